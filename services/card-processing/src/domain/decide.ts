import type {
  AuthenticationCommand,
  CardCommand,
  CardholderCommand,
  FinalCode,
  FollowUpCommand,
  Hit,
  NumberLimit,
  OperationType,
  OutcomeUnknownCode,
  PurchaseCommand,
  ResponseCode,
} from '@gateway/contracts';
import { RESPONSE_CODES, cardStatusOfCode, coded, operationTypeOf } from '@gateway/contracts';
import { MERCHANTS_OPERATIONS_MAX, REFUSALS_MAX } from './bounds';
import type { CardFacts } from './card-acceptance';
import { declineWithoutBank } from './card-acceptance';
import type {
  BankFacts,
  CallKind,
  CardPresentation,
  Charge,
  Count,
  EventOf,
  Hold,
  Operation,
  Payment,
  PaymentEvent,
  PendingCall,
  ReplyAddress,
  Route,
} from './payment';
import { findOperation, mayBegin, overdueOperations } from './payment';
import { proofRejection } from './proof';
import type { Rejection } from './rejections';
import { codeOfRejection } from './rejections';

/** Facts that the application gathers for a command, so that deciding needs neither clock nor I/O. */
export interface Facts {
  /** Epoch ms. */
  now: number;
  /** For a command with a token: its card; undefined if the merchant has no such token. */
  card?: CardFacts | undefined;
  /** For a command with a token: the operation's route, or a rejection if the account has none. */
  route?: Route | Rejection | undefined;
  /** For a purchase with `pares`: its SHA-256 in hex. */
  paresHash?: string | undefined;
  /** For a purchase with `pares`: every token of its card. */
  cardTokens?: readonly string[] | undefined;
  /** For a command with a token, if the account's responses show it. */
  presentation?: CardPresentation | undefined;
  /** For an AUTH: the account wants callbacks about holds, so many hours before their end. */
  holdCallbackHours?: number | undefined;
  /** If the account has velocity rules: the first that refuses, or where the attempt counts. */
  velocity?: { readonly hit?: Hit | undefined; readonly declineCounts: readonly Count[] } | undefined;
  /** The edge replica that waits for the first answer of an authentication. */
  replyTo?: ReplyAddress | undefined;
  /** Epoch ms from which a resolver may look for the outcome of a call that begins now. */
  leaseEnd: (route: Route | undefined) => number;
  /** Epoch ms at which an authentication that begins now is given up as lost. */
  authenticationEnd: number;
}

/** An acquirer's answer, or its absence, in our terms. */
export type AcquirerAnswer =
  | { kind: 'approved'; authcode: string | null; bank: BankFacts }
  | { kind: 'declined'; code: FinalCode<'bank-decline' | 'antifraud'>; bank: BankFacts }
  /** It may have happened: a time-out, a broken connection, garbage. */
  | { kind: 'unknown'; code: OutcomeUnknownCode }
  /** It certainly did not happen and never will: nothing was sent, or the acquirer confirmed the cancellation. */
  | { kind: 'not-executed'; code: ResponseCode };

/** The deadline for an operation's call, and its final code if it is missed. */
export interface CallDeadline {
  /** Epoch ms. */
  at: number;
  code: ResponseCode;
}

/** The events of a merchant's command, or the rule that it breaks. Pure. */
export function decide(payment: Payment, command: CardCommand, facts: Facts): PaymentEvent[] | Rejection {
  // A refusal is on record however late it comes: nothing is carried out.
  if (facts.now > command.data.deadline && overLimitOf(command) === undefined) return 'deadline-passed';
  // They exclude what their success would.
  if (overdueOperations(payment).length > 0)
    return 'baseReference' in command.data ? 'reference-not-found' : 'completed';
  switch (command.type) {
    case 'AuthorizeCard':
    case 'ChargeCard':
      return purchase(payment, command, facts);
    case 'AuthenticateCard':
    case 'AuthenticateAndChargeCard':
      return authenticate(payment, command, facts);
    case 'TokenizeCard':
      return [
        refusalOfNumber(command) ?? { type: 'OperationRecorded', operation: ended(command, RESPONSE_CODES.SUCCESS) },
      ];
    case 'SettleAuthorization':
    case 'VoidAuthorization':
    case 'RefundCharge':
      return followUp(payment, command, facts);
  }
}

/** A command that misses its deadline while it waits for its call ends like one that arrives too late. */
export function deadlineOf({ data }: CardCommand): CallDeadline {
  return { at: data.deadline, code: codeOfRejection('deadline-passed') };
}

/**
 * A call that began later than this could outlast its lease, because the intent took so long to write. Another process
 * may look for its outcome by then, and cancels what the acquirer does not know yet.
 *
 * @param callMs the longest that the call takes once it is sent
 */
export function leaseDeadline({ resolveAt = 0 }: Payment, callMs: number): CallDeadline {
  return { at: resolveAt - callMs, code: RESPONSE_CODES.OUTCOME_UNKNOWN };
}

/** The outcome of a call past a deadline: certain, because nothing was sent. Undefined while in time. */
export function lateAnswer(deadlines: readonly CallDeadline[], now: number): AcquirerAnswer | undefined {
  const missed = deadlines.find(({ at }) => now > at);
  return missed && { kind: 'not-executed', code: missed.code };
}

/** A rejection as an event: every accepted operation is recorded with its end. */
export function refusal(command: CardCommand, rejection: Rejection): EventOf<'OperationRecorded'> {
  return { type: 'OperationRecorded', operation: ended(command, codeOfRejection(rejection)) };
}

export function hasRoomForRefusal(payment: Payment): boolean {
  return payment.operations.length < REFUSALS_MAX;
}

/** Applies an acquirer's answer to the pending operation. Empty if it has ended: terminal states stay. */
export function decideAnswer(
  payment: Payment,
  reference: string,
  answer: AcquirerAnswer,
  facts: { now: number; holdSeconds: number; inquireAt: number },
): PaymentEvent[] {
  if (payment.pending?.reference !== reference) return [];
  switch (answer.kind) {
    case 'approved': {
      const hold = payment.state.kind === 'authorizing' ? { expiresAt: endOfHold(payment.pending, facts) } : {};
      return [{ type: 'OperationSucceeded', reference, authcode: answer.authcode, bank: answer.bank, ...hold }];
    }
    case 'declined':
      return [{ type: 'OperationDeclined', reference, ...coded(answer.code), bank: answer.bank }];
    case 'not-executed':
      return [{ type: 'OperationFailed', reference, ...coded(answer.code) }];
    case 'unknown': {
      const told = findOperation(payment, reference)?.code;
      // The merchant keeps the code of the first response.
      if (told !== RESPONSE_CODES.OUTCOME_UNKNOWN) return [];
      return [{ type: 'OutcomeBecameUnknown', reference, ...coded(answer.code), resolveAt: facts.inquireAt }];
    }
  }
}

/**
 * The bank holds the money since the call, however late its answer is found. A hold that is over by then ends now, so that
 * its VOID is not days late.
 */
function endOfHold({ begunAt }: PendingCall, { now, holdSeconds }: { now: number; holdSeconds: number }): number {
  return Math.max(now, (begunAt ?? now) + holdSeconds * 1000);
}

interface Accepted {
  card: CardFacts;
  route: Route;
}

function purchase(payment: Payment, command: PurchaseCommand, facts: Facts): PaymentEvent[] | Rejection {
  const { authentication } = command.data;
  const rejection =
    authentication === undefined
      ? beginRejection(payment)
      : proofRejection(payment, { ...command.data, reference: authentication.reference, ...facts });
  if (rejection !== undefined) return rejection;
  const accepted = accept(command, facts);
  if (Array.isArray(accepted) || typeof accepted === 'string') return accepted;
  // A purchase with a proof follows its AUTH3D's route.
  const route = authentication === undefined ? accepted.route : (payment.route ?? accepted.route);
  return [
    {
      type: 'OperationStarted',
      operation: { ...pendingOperation(command), ...counted(facts), ...holdCallbacksOf(command, facts) },
      call: purchaseCall(command, facts),
      route,
      cardBrand: accepted.card.brand,
      ...presented(facts),
      resolveAt: facts.leaseEnd(route),
    },
  ];
}

function purchaseCall({ type, data: { reference } }: PurchaseCommand, { now }: Facts): PendingCall {
  return type === 'ChargeCard' ? { reference, kind: 'sale' } : { reference, kind: 'authorize', begunAt: now };
}

export function holdCallbacksOf({ type, data }: PurchaseCommand, facts: Facts): Pick<Operation, 'holdCallbacks'> {
  const { holdCallbackHours: hoursBefore } = facts;
  if (type !== 'AuthorizeCard' || data.callbackUrl === undefined || hoursBefore === undefined) return {};
  return { holdCallbacks: { hoursBefore } };
}

function authenticate(payment: Payment, command: AuthenticationCommand, facts: Facts): PaymentEvent[] | Rejection {
  const rejection = beginRejection(payment);
  if (rejection !== undefined) return rejection;
  const accepted = accept(command, facts);
  if (Array.isArray(accepted) || typeof accepted === 'string') return accepted;
  const { customer, withCvv, redirectUrl, deadline } = command.data;
  const { replyTo } = facts;
  return [
    {
      type: 'AuthenticationRequested',
      operation: { ...pendingOperation(command), ...counted(facts) },
      route: accepted.route,
      cardBrand: accepted.card.brand,
      ...presented(facts),
      request: { deadline, ...(redirectUrl === undefined ? {} : { redirectUrl }) },
      awaiting: { customer, withCvv, ...(replyTo === undefined ? {} : { replyTo }) },
      resolveAt: facts.authenticationEnd,
    },
  ];
}

function presented({ presentation }: Facts): { presentation?: CardPresentation } {
  return presentation === undefined ? {} : { presentation };
}

/** A refused attempt counts nowhere. */
function counted({ velocity }: Facts): { declineCounts?: readonly Count[] } {
  return velocity === undefined || velocity.hit !== undefined ? {} : { declineCounts: velocity.declineCounts };
}

/** A payment begins once. Only attempts on a card-entry page share one, and at most one of them succeeds. */
function beginRejection(payment: Payment): Rejection | undefined {
  if (payment.checkoutEnded === true) return 'checkout-ended';
  if (!mayBegin(payment.state)) return 'completed';
  return roomRejection(payment);
}

export function roomRejection({ operations }: Payment): Rejection | undefined {
  return operations.length >= MERCHANTS_OPERATIONS_MAX ? 'too-many-operations' : undefined;
}

/** Lets an operation go to its acquirer or issuer; otherwise a rejection, or a decline that needs no bank. */
function accept(command: CardholderCommand, facts: Facts): Accepted | PaymentEvent[] | Rejection {
  const refused = refusalOfNumber(command);
  if (refused !== undefined) return [refused];
  if (facts.card === undefined) return 'token-not-found';
  if (facts.route === undefined || typeof facts.route === 'string') return facts.route ?? 'no-terminal-for-currency';
  const { currency, customer } = command.data;
  const declined = declineWithoutBank(facts.card, { currency, phone: customer.phone, now: facts.now });
  if (declined !== undefined) {
    const operation = { ...ended(command, declined), ...counted(facts) };
    return [{ type: 'OperationRecorded', operation, ...presented(facts) }];
  }
  const hit = facts.velocity?.hit;
  if (hit !== undefined) {
    const operation = { ...ended(command, hit.code), refusedBy: { rule: hit.rule, reason: hit.reason } };
    return [{ type: 'OperationRecorded', operation, ...presented(facts) }];
  }
  return { card: facts.card, route: facts.route };
}

/** The rule of an operation whose card's number was over a limit. */
export const NUMBER_RULES = {
  perBin: 'card numbers by bin',
  inAll: 'card numbers in all',
} as const satisfies Record<NumberLimit, string>;

/** The limit for which the edge has refused the card's number. Nothing else of such a command is carried out, ever. */
export function overLimitOf({ data }: CardCommand): NumberLimit | undefined {
  return 'overLimit' in data ? data.overLimit : undefined;
}

/** Undefined unless the edge has refused the card's number. */
function refusalOfNumber(command: CardCommand): EventOf<'OperationRecorded'> | undefined {
  const limit = overLimitOf(command);
  if (limit === undefined) return undefined;
  const refusedBy = { rule: NUMBER_RULES[limit], reason: 'as many as the account may send in a day came before' };
  return {
    type: 'OperationRecorded',
    operation: { ...ended(command, RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED), refusedBy },
  };
}

function followUp(payment: Payment, command: FollowUpCommand, facts: Facts): PaymentEvent[] | Rejection {
  const base = findOperation(payment, command.data.baseReference);
  if (base === undefined || (base.status === 'pending' && !mayFollowPending(command, base))) {
    return 'reference-not-found';
  }
  const type = followUpTypeOf[command.type];
  const rejection = followUpRejection(payment, { ...command.data, type }, base, facts.now) ?? roomRejection(payment);
  if (rejection !== undefined) return rejection;
  if (base.type === 'AUTH3D') return voidAuthentication(command, base);
  return [
    {
      type: 'OperationStarted',
      operation: pendingOperation(command),
      call: { reference: command.data.reference, ...followUpCall(type, base) },
      resolveAt: facts.leaseEnd(payment.route),
    },
  ];
}

type FollowUpType = 'SETTLE' | 'VOID' | 'REFUND';

const followUpTypeOf = {
  SettleAuthorization: 'SETTLE',
  VoidAuthorization: 'VOID',
  RefundCharge: 'REFUND',
} as const satisfies Record<FollowUpCommand['type'], FollowUpType>;

export function followUpCall(type: FollowUpType, { bank }: Operation): Omit<PendingCall, 'reference'> {
  const kind = callOf[type];
  return bank?.transactionId === undefined ? { kind } : { kind, originalTransactionId: bank.transactionId };
}

/** While a base's outcome is unknown, only an authentication, which holds no money, can be voided. */
function mayFollowPending(command: FollowUpCommand, base: Operation): boolean {
  return command.type === 'VoidAuthorization' && base.type === 'AUTH3D';
}

function voidAuthentication(command: FollowUpCommand, base: Operation): PaymentEvent[] {
  const voided: PaymentEvent = { type: 'AuthenticationVoided', operation: ended(command, RESPONSE_CODES.SUCCESS) };
  if (base.status !== 'pending') return [voided];
  return [{ type: 'OperationFailed', reference: base.reference, ...coded(RESPONSE_CODES.ALREADY_VOIDED) }, voided];
}

const callOf: Record<FollowUpType, CallKind> = { SETTLE: 'capture', VOID: 'void', REFUND: 'refund' };

/** A VOID has no amount of its own. */
interface Money {
  amountE4?: number;
  currency?: string;
}

/** @param now epoch ms at which the follow-up is, or was, carried out */
export function followUpRejection(
  payment: Payment,
  asked: Money & { type: FollowUpType },
  base: Operation,
  now: number,
): Rejection | undefined {
  switch (asked.type) {
    case 'SETTLE':
      return settleRejection(payment, asked, base, now);
    case 'VOID':
      return voidRejection(payment, base);
    case 'REFUND':
      return refundRejection(payment, asked, base);
  }
}

function settleRejection(payment: Payment, asked: Money, base: Operation, now: number): Rejection | undefined {
  if (base.type !== 'AUTH' || base.status !== 'success') return 'reference-not-found';
  switch (payment.state.kind) {
    case 'authorized':
      return settleOfHold(payment.state.hold, asked, now);
    case 'settling':
    case 'charged':
    case 'refunding':
    case 'refunded':
      return 'already-settled';
    case 'voiding':
    case 'voided':
      return 'already-voided';
    default:
      return 'reference-not-found';
  }
}

function settleOfHold(hold: Hold, asked: Money, now: number): Rejection | undefined {
  if (now >= hold.expiresAt) return 'hold-ended';
  if (asked.currency !== hold.currency) return 'amount-or-currency-differs';
  return (asked.amountE4 ?? 0) > hold.amountE4 ? 'settle-amount-too-high' : undefined;
}

function voidRejection(payment: Payment, base: Operation): Rejection | undefined {
  if (base.type === 'AUTH3D') return voidOfAuthenticationRejection(payment);
  if (base.type !== 'AUTH' || base.status !== 'success') return 'not-voidable';
  switch (payment.state.kind) {
    case 'authorized':
      return undefined;
    case 'voiding':
    case 'voided':
      return 'already-voided';
    case 'charged':
      return payment.route?.lateVoid === true ? undefined : 'not-voidable';
    default:
      return 'not-voidable';
  }
}

function voidOfAuthenticationRejection({ state }: Payment): Rejection | undefined {
  switch (state.kind) {
    case 'authenticating':
    case 'authenticated':
      return undefined;
    case 'voided':
      // With a hold, the VOID was of the AUTH that used this authentication.
      return state.hold === undefined ? 'already-voided' : 'not-voidable';
    default:
      return 'not-voidable';
  }
}

const REFUNDABLE: ReadonlySet<OperationType> = new Set(['SALE', 'SALE3D', 'SETTLE']);

function refundRejection(payment: Payment, asked: Money, base: Operation): Rejection | undefined {
  if (!REFUNDABLE.has(base.type) || base.status !== 'success') return 'not-refundable';
  switch (payment.state.kind) {
    case 'charged':
      return refundOfCharge(payment.state.charge, asked);
    case 'refunding':
    case 'refunded':
      return 'already-refunded';
    default:
      return 'not-refundable';
  }
}

function refundOfCharge(charged: Charge, asked: Money): Rejection | undefined {
  return asked.currency === charged.currency && (asked.amountE4 ?? 0) <= charged.amountE4
    ? undefined
    : 'amount-or-currency-differs';
}

export function pendingOperation(command: CardCommand): Operation {
  return { ...described(command), status: 'pending', ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN), authcode: null };
}

function ended(command: CardCommand, code: ResponseCode): Operation {
  return { ...described(command), status: cardStatusOfCode(code), ...coded(code), authcode: null };
}

type Described = Omit<Operation, 'status' | 'code' | 'message' | 'authcode'>;

function described(command: CardCommand): Described {
  const { data } = command;
  return {
    reference: data.reference,
    type: operationTypeOf[command.type],
    transactionUniqueId: data.transactionUniqueId,
    acceptedAt: data.acceptedAt,
    ...baseOf(command),
    ...('amountE4' in data ? { amountE4: data.amountE4, currency: data.currency } : {}),
    ...('token' in data && overLimitOf(command) === undefined ? { token: data.token } : {}),
    ...('callbackUrl' in data && data.callbackUrl !== undefined ? { callbackUrl: data.callbackUrl } : {}),
    ...('checkoutAttempt' in data && data.checkoutAttempt !== undefined
      ? { checkoutAttempt: data.checkoutAttempt }
      : {}),
    ...initiatorOf(command),
    ...(data.notes.custom === undefined ? {} : { custom: data.notes.custom }),
  };
}

function initiatorOf({ data }: CardCommand): Pick<Operation, 'initiator'> {
  if (!('customer' in data)) return {};
  return { initiator: data.cofType === 'MIT' ? 'merchant' : 'cardholder' };
}

/** The operation that this one follows from: a SALE or AUTH with a proof follows from its AUTH3D. */
function baseOf({ data }: CardCommand): { baseReference?: string } {
  if ('baseReference' in data) return { baseReference: data.baseReference };
  const authentication = 'authentication' in data ? data.authentication : undefined;
  return authentication === undefined ? {} : { baseReference: authentication.reference };
}
