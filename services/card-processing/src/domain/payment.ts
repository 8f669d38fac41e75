import type {
  AuthenticationIds,
  AuthenticationPath,
  Customer,
  Initiator,
  OperationStatus,
  OperationType,
  OutcomeUnknownCode,
  ResponseCode,
  TestMark,
} from '@gateway/contracts';
import { RESPONSE_CODES, coded, testMark } from '@gateway/contracts';

/** A bank's own words about an operation, as far as its connector passes them on. */
export interface BankFacts {
  transactionId?: string;
  id?: string;
  name?: string;
  descriptor?: string;
  advice?: string;
  reasonCode?: string;
  reasonDescription?: string;
}

/** Results of 3-D Secure for an AUTH3D or SALE3D so far. */
export interface Authentication {
  ids?: AuthenticationIds;
  /** The browser's target. Present once the cardholder can be authenticated. */
  acsUrl?: string;
  /** AUTH3D: the value that the merchant's page posts to it. */
  pareq?: string;
  /** True when the issuer wanted to see the cardholder. */
  challenged: boolean;
  eci?: number;
  /** The issuer's cryptogram. Only authenticated cardholders have one. */
  authenticationValue?: string;
  /** AUTH3D: SHA-256, in hex, of the `pares` that the purchase must present. */
  proofHash?: string;
  path?: AuthenticationPath;
  /** Epoch ms: when the challenge began, and when the result was there. */
  challengedAt?: number;
  endedAt?: number;
}

/** The proof of authentication that a purchase sends to its acquirer. */
export interface AuthenticationResult {
  ids: AuthenticationIds;
  eci: number;
  authenticationValue: string;
}

/** A counter and the part of its window that an attempt counts in. */
export interface Count {
  counter: string;
  /** Begin of the part, epoch ms. */
  slot: number;
  /** A keyed hash of the card's number, if the counter counts cards that pay. */
  card?: string;
}

/** One entry of a payment's record: the request and its outcome. */
export interface Operation {
  reference: string;
  type: OperationType;
  baseReference?: string;
  transactionUniqueId: string;
  amountE4?: number;
  currency?: string;
  token?: string;
  status: OperationStatus;
  /** While pending: the code that the merchant got, or `OUTCOME_UNKNOWN` before any response. */
  code: ResponseCode;
  message: string;
  authcode: string | null;
  acceptedAt: number;
  bank?: BankFacts;
  /** The merchant's `custom_*` request fields; they travel in events. */
  custom?: Record<string, string>;
  authentication?: Authentication;
  /** The callback address for the final outcome. `tellsMerchant` decides whether it is used. */
  callbackUrl?: string;
  /** As the account wanted them when the hold was requested. */
  holdCallbacks?: HoldCallbacks;
  /** The merchant got no outcome from the edge, so a callback reports the end. */
  announced?: true;
  /** Of what begins a payment with a card. */
  initiator?: Initiator;
  /** Number of the attempt on its card-entry page, from 1. */
  checkoutAttempt?: number;
  /** Where its end counts, by rules about declines. Present, if empty, once velocity rules have counted it. */
  declineCounts?: readonly Count[];
  /** The account's rule that declined it, for operators. */
  refusedBy?: { rule: string; reason: string };
}

/** An AUTH's callbacks about its hold, to its callback address. */
export interface HoldCallbacks {
  /** So long before the end of the hold. */
  hoursBefore: number;
  /** The callback `authorization_expiring` has been announced. */
  expiring?: true;
  /** The same for `authorization_expired`. */
  expired?: true;
  /** How far the clock of a sandbox account was ahead when each was due, if that was in a move. */
  expiringDueClockMs?: number;
  expiredDueClockMs?: number;
}

export interface Hold {
  reference: string;
  amountE4: number;
  currency: string;
  /** Epoch ms; from then on it cannot be settled. */
  expiresAt: number;
  /** How far the clock of a sandbox account was ahead when `expiresAt` last followed it. */
  clockMs?: number;
}

/** Money collected by a SALE or SETTLE, which a REFUND returns. */
export interface Charge {
  reference: string;
  amountE4: number;
  currency: string;
}

/** An AUTH3D that a purchase may rely on, once: same card, amount and currency. */
export interface Proof {
  reference: string;
  amountE4: number;
  currency: string;
  token: string;
  /** Epoch ms. */
  authenticatedAt: number;
  /** By how many ms it is older in a sandbox account whose clock was moved. */
  olderMs?: number;
  /** How far that clock was ahead when `olderMs` last followed it. */
  clockMs?: number;
}

/**
 * Where the money is. States ending in -ing wait for an outside party, and exclude the same operations as their success
 * would. A voided AUTH3D has held no money.
 */
export type PaymentState =
  | { kind: 'new' }
  | { kind: 'closed' }
  | { kind: 'tokenized' }
  | { kind: 'authenticating'; reference: string }
  | { kind: 'authenticated'; proof: Proof }
  | { kind: 'authorizing' }
  | { kind: 'authorized'; hold: Hold }
  | { kind: 'charging' }
  | { kind: 'settling'; hold: Hold; settlement: Charge }
  | { kind: 'charged'; charge: Charge; hold?: Hold }
  | { kind: 'voiding'; hold: Hold; charge?: Charge }
  | { kind: 'voided'; hold?: Hold }
  | { kind: 'refunding'; charge: Charge; hold?: Hold }
  | { kind: 'refunded'; charge: Charge; hold?: Hold };

export type CallKind = 'authorize' | 'sale' | 'capture' | 'void' | 'refund';

/** The one acquirer call whose outcome is unknown. */
export interface PendingCall {
  reference: string;
  kind: CallKind;
  /** The bank's transaction id of the base operation. */
  originalTransactionId?: string;
  /** Of an authorize: epoch ms from which the bank may hold the money. */
  begunAt?: number;
  /** It may have been made by a process whose record is lost. It is inquired about and never made; `code`: as it ends then. */
  lost?: { code: ResponseCode };
}

/** Terminal and connector of the base operation. Follow-ups stay with them. */
export interface Route {
  acquirer: string;
  midReference: string;
  midId?: string;
  midName?: string;
  lateVoid: boolean;
  /** An authorization's hold by terminal or scheme; if neither has a rule, the service's default applies. */
  holdSeconds?: number;
}

/** The edge replica that waits for an outcome. */
export interface ReplyAddress {
  partition: number;
  correlationId: string;
  causationId: string;
}

/** Data for the first answer and for the sale after an authentication. */
export interface Awaiting {
  customer: Customer;
  withCvv: boolean;
  /** Until the first answer is sent. */
  replyTo?: ReplyAddress;
}

/** Displayable data of a card and its holder: at most the first six and last four digits. */
export interface CardPresentation {
  bin: string;
  last4: string;
  /** '01' to '12'. */
  month: string;
  /** Two digits. */
  year: string;
  brand: string;
  holder: string;
  /** Absent in payments from before it was of one account: what they have, every merchant could match. */
  storageId?: string;
  /** What the release before shows as the hash. Nobody reads it here. */
  panHash: string;
  firstName: string;
  lastName: string;
  phone?: string;
  descriptor?: string;
  descriptorPhone?: string;
}

export interface Payment extends TestMark {
  merchantAccount: string;
  state: PaymentState;
  operations: readonly Operation[];
  pending?: PendingCall;
  route?: Route;
  cardBrand?: string;
  /** The card-entry page accepts no more attempts; its last one is final. */
  checkoutEnded?: true;
  /** Only while a call or an authentication is pending: epoch ms at which a resolver looks for its outcome. */
  resolveAt?: number;
  /** Inquiries about `pending` that found no outcome. */
  inquiries?: number;
  /** Card and cardholder data for custom response parameters, only for accounts that use them. */
  presentation?: CardPresentation;
  /** Only while a cardholder is being authenticated. */
  awaiting?: Awaiting;
  /** A refusal without room in `operations`, from its decision until it has its own document. */
  refusal?: Operation;
}

export function newPayment(merchantAccount: string, isTest?: true): Payment {
  return { merchantAccount, ...testMark(isTest), state: { kind: 'new' }, operations: [] };
}

/** Only some of these are announced to others; see `announcements.ts`. Every `resolveAt` is in epoch ms. */
export type PaymentEvent =
  | ({ type: 'PaymentOpened'; merchantAccount: string } & TestMark)
  /** The intent, stored before the acquirer is called. */
  | {
      type: 'OperationStarted';
      operation: Operation;
      call: PendingCall;
      route?: Route;
      cardBrand?: string;
      presentation?: CardPresentation;
      resolveAt: number;
    }
  /** The intent of an AUTH3D or SALE3D, stored before the threeds service is called. */
  | {
      type: 'AuthenticationRequested';
      operation: Operation;
      route: Route;
      cardBrand: string;
      presentation?: CardPresentation;
      request: { redirectUrl?: string; deadline: number };
      awaiting: Awaiting;
      resolveAt: number;
    }
  | { type: 'AuthenticationStarted'; reference: string; authentication: Authentication }
  | { type: 'CardAuthenticated'; reference: string; authentication: Authentication; authenticatedAt: number }
  /** The intent of the sale inside a SALE3D, stored before the acquirer is called. */
  | {
      type: 'AuthenticatedSaleStarted';
      reference: string;
      authentication: Authentication;
      call: PendingCall;
      resolveAt: number;
    }
  | {
      type: 'AuthenticationDeclined';
      reference: string;
      code: ResponseCode;
      message: string;
      authentication: Authentication;
    }
  /** A VOID without a call to an acquirer: no money was held. */
  | { type: 'AuthenticationVoided'; operation: Operation }
  | { type: 'CheckoutEnded'; reference: string; dueClockMs?: number }
  | { type: 'OutcomeAnnounced'; reference: string; callbackUrl: string }
  /** Of an AUTH that wants callbacks about its hold: the hold ends soon, or has ended. */
  | { type: 'HoldExpiring' | 'HoldExpired'; reference: string; endsAt: number; dueClockMs?: number }
  | { type: 'OperationSucceeded'; reference: string; authcode: string | null; bank?: BankFacts; expiresAt?: number }
  | { type: 'OperationDeclined'; reference: string; code: ResponseCode; message: string; bank?: BankFacts }
  | { type: 'OperationFailed'; reference: string; code: ResponseCode; message: string; dueClockMs?: number }
  | { type: 'OutcomeBecameUnknown'; reference: string; code: OutcomeUnknownCode; message: string; resolveAt: number }
  /** Delivered long after its deadline, and not on record: it may have been carried out. */
  | { type: 'OperationOverdue'; operation: Operation; route?: Route; cardBrand?: string; resolveAt: number }
  | { type: 'OverdueInquiryBegun'; reference: string; call: PendingCall; resolveAt: number }
  | { type: 'OverdueRefused'; reference: string; code: ResponseCode; message: string }
  /** The resolver could not find out the outcome. */
  | { type: 'InquiryFailed'; reference: string; resolveAt: number }
  /** The hold follows the clock of its sandbox account. It ends `byMs` sooner, or just as before. */
  | {
      type: 'HoldMoved';
      reference: string;
      byMs: number;
      expiresAt: number;
      clockMs: number;
      callbacks?: Partial<HoldCallbacks>;
    }
  | { type: 'ProofMoved'; reference: string; byMs: number; clockMs: number }
  /** A refusal without room here: no other decision about its reference can follow. */
  | { type: 'RefusalDecided'; operation: Operation }
  /** It is on record in its own document. */
  | { type: 'RefusalMoved'; reference: string }
  /** Ended without an acquirer: refused by a rule, declined by a property of the card, recorded for a token. */
  | { type: 'OperationRecorded'; operation: Operation; presentation?: CardPresentation };

export function findOperation(payment: Payment, reference: string): Operation | undefined {
  return payment.operations.find((operation) => operation.reference === reference);
}

/**
 * Applies an event; the payment is undefined before `PaymentOpened`. Pure. Throws if the event is impossible in the
 * current state: a broken invariant.
 */
export function evolve(payment: Payment | undefined, event: PaymentEvent): Payment {
  if (event.type === 'PaymentOpened') return newPayment(event.merchantAccount, event.isTest);
  if (payment === undefined) return broken(`${event.type} of no payment`);
  switch (event.type) {
    case 'OperationRecorded':
      return { ...recorded(payment, event.operation), ...presented(event) };
    case 'OperationStarted':
      return begun(payment, event);
    case 'OperationOverdue':
      return overdue(payment, event);
    case 'OverdueInquiryBegun': {
      const state = started(payment.state, required(payment, event.reference));
      return { ...payment, state, pending: event.call, resolveAt: event.resolveAt };
    }
    case 'OverdueRefused': {
      const { reference, code, message } = event;
      if (pendingReference(payment) !== undefined) return broken(`${reference} is refused too early`);
      return rested(withFields(payment, reference, { status: 'error', code, message }));
    }
    case 'AuthenticationRequested':
      return authenticationBegun(payment, event);
    case 'AuthenticationStarted': {
      const started = change(payment, event.reference, { authentication: event.authentication });
      return { ...started, ...answered(payment.awaiting) };
    }
    case 'CardAuthenticated': {
      const ended = end(payment, event.reference, {
        ...SUCCESS,
        authcode: null,
        authentication: event.authentication,
      });
      const proof = proofOf(required(payment, event.reference), event.authenticatedAt);
      return { ...ended, state: { kind: 'authenticated', proof } };
    }
    case 'AuthenticatedSaleStarted': {
      const authenticated = end(payment, event.reference, { authentication: event.authentication });
      return { ...authenticated, state: { kind: 'charging' }, pending: event.call, resolveAt: event.resolveAt };
    }
    case 'AuthenticationDeclined': {
      const { reference, code, message, authentication } = event;
      return { ...end(payment, reference, { status: 'decline', code, message, authentication }), state: CLOSED };
    }
    case 'AuthenticationVoided':
      return { ...payment, operations: [...payment.operations, event.operation], state: { kind: 'voided' } };
    case 'OperationSucceeded':
      return operationSucceeded(payment, event);
    case 'OperationDeclined':
      return {
        ...end(payment, event.reference, {
          status: 'decline',
          code: event.code,
          message: event.message,
          ...(event.bank === undefined ? {} : { bank: event.bank }),
        }),
        state: undone(payment.state),
      };
    case 'OperationFailed':
      return {
        ...end(payment, event.reference, { status: 'error', code: event.code, message: event.message }),
        state: undone(payment.state),
      };
    default:
      return noted(payment, event);
  }
}

type Note = EventOf<
  | 'CheckoutEnded'
  | 'OutcomeAnnounced'
  | 'OutcomeBecameUnknown'
  | 'InquiryFailed'
  | 'HoldMoved'
  | 'ProofMoved'
  | 'RefusalDecided'
  | 'RefusalMoved'
  | 'HoldExpiring'
  | 'HoldExpired'
>;

/** Events with which no operation begins or ends. */
function noted(payment: Payment, event: Note): Payment {
  switch (event.type) {
    case 'CheckoutEnded':
      return { ...payment, checkoutEnded: true };
    case 'OutcomeAnnounced':
      return withFields(payment, event.reference, { announced: true, callbackUrl: event.callbackUrl });
    case 'HoldMoved': {
      const moved = { ...payment, state: holdMoved(payment.state, event) };
      return event.callbacks === undefined ? moved : withHoldCallbacks(moved, event.reference, event.callbacks);
    }
    case 'ProofMoved':
      return { ...payment, state: proofMoved(payment.state, event) };
    case 'RefusalDecided':
      if (payment.refusal !== undefined) return broken(`${payment.refusal.reference} has no document yet`);
      return { ...payment, refusal: event.operation };
    case 'RefusalMoved': {
      const { refusal, ...rest } = payment;
      return refusal?.reference === event.reference ? rest : broken(`${event.reference} was not decided here`);
    }
    case 'HoldExpiring':
      return withHoldCallbacks(payment, event.reference, { expiring: true });
    case 'HoldExpired':
      return withHoldCallbacks(payment, event.reference, { expired: true });
    case 'OutcomeBecameUnknown': {
      const { reference, code, message, resolveAt } = event;
      return { ...change(payment, reference, { code, message }), resolveAt, inquiries: 0 };
    }
    case 'InquiryFailed':
      return { ...payment, resolveAt: event.resolveAt, inquiries: (payment.inquiries ?? 0) + 1 };
  }
}

export type EventOf<Type extends PaymentEvent['type']> = Extract<PaymentEvent, { type: Type }>;

function begun(payment: Payment, event: EventOf<'OperationStarted'>): Payment {
  return {
    ...payment,
    operations: [...payment.operations, event.operation],
    state: started(payment.state, event.operation),
    pending: event.call,
    resolveAt: event.resolveAt,
    ...(event.route === undefined ? {} : { route: event.route }),
    ...(event.cardBrand === undefined ? {} : { cardBrand: event.cardBrand }),
    ...presented(event),
  };
}

function overdue(payment: Payment, { operation, route, cardBrand, resolveAt }: EventOf<'OperationOverdue'>): Payment {
  return {
    ...payment,
    operations: [...payment.operations, operation],
    // What is pending has its own time.
    resolveAt: payment.resolveAt ?? resolveAt,
    ...(route === undefined || payment.route !== undefined ? {} : { route }),
    ...(cardBrand === undefined || payment.cardBrand !== undefined ? {} : { cardBrand }),
  };
}

/** Overdue operations that wait for an inquiry, oldest first: pending, but not what the payment waits for. */
export function overdueOperations(payment: Payment): Operation[] {
  const waitsFor = pendingReference(payment);
  return payment.operations.filter(({ status, reference }) => status === 'pending' && reference !== waitsFor);
}

function authenticationBegun(payment: Payment, event: EventOf<'AuthenticationRequested'>): Payment {
  const { operation, route, cardBrand, awaiting, resolveAt } = event;
  if (!mayBegin(payment.state)) return broken(`nothing can be authenticated while ${payment.state.kind}`);
  return {
    ...payment,
    operations: [...payment.operations, operation],
    state: { kind: 'authenticating', reference: operation.reference },
    route,
    cardBrand,
    ...presented(event),
    awaiting,
    resolveAt,
  };
}

function operationSucceeded(payment: Payment, event: EventOf<'OperationSucceeded'>): Payment {
  const operation = required(payment, event.reference);
  const ended = end(payment, event.reference, {
    ...SUCCESS,
    authcode: event.authcode,
    ...(event.bank === undefined ? {} : { bank: event.bank }),
  });
  return { ...ended, state: succeeded(payment.state, operation, event.expiresAt) };
}

function withHoldCallbacks(payment: Payment, reference: string, changed: Partial<HoldCallbacks>): Payment {
  const { holdCallbacks } = required(payment, reference);
  if (holdCallbacks === undefined) return broken(`${reference} wants no callbacks about its hold`);
  return withFields(payment, reference, { holdCallbacks: { ...holdCallbacks, ...changed } });
}

const SUCCESS = { status: 'success', ...coded(RESPONSE_CODES.SUCCESS) } as const;
const CLOSED: PaymentState = { kind: 'closed' };

/** The hold of an AUTH for as long as nothing has settled or voided it. */
export function holdInEffect({ state }: Payment): Hold | undefined {
  switch (state.kind) {
    case 'authorized':
    case 'settling':
      return state.hold;
    case 'voiding':
      return state.charge === undefined ? state.hold : undefined;
    default:
      return undefined;
  }
}

/** Nothing has begun, or it failed, like an attempt on a card-entry page. */
export function mayBegin({ kind }: PaymentState): boolean {
  return kind === 'new' || kind === 'closed';
}

function proofOf({ reference, amountE4, currency, token }: Operation, authenticatedAt: number): Proof {
  if (amountE4 === undefined || currency === undefined || token === undefined) return broken('a proof of nothing');
  return { reference, amountE4, currency, token, authenticatedAt };
}

function recorded(payment: Payment, operation: Operation): Payment {
  const { state, operations } = payment;
  return {
    ...payment,
    operations: [...operations, operation],
    state: state.kind === 'new' ? stateOfRecorded(operation) : state,
  };
}

/** A refused follow-up that arrives before its base leaves the payment open for it. */
function stateOfRecorded(operation: Operation): PaymentState {
  switch (operation.type) {
    case 'AUTH':
    case 'AUTH3D':
    case 'SALE':
    case 'SALE3D':
      return CLOSED;
    case 'TOKENIZE':
      return { kind: operation.status === 'success' ? 'tokenized' : 'closed' };
    case 'SETTLE':
    case 'VOID':
    case 'REFUND':
      return { kind: 'new' };
  }
}

function started(state: PaymentState, operation: Operation): PaymentState {
  const impossible = (): never => broken(`${operation.type} cannot start while ${state.kind}`);
  switch (operation.type) {
    case 'AUTH':
      return mayPurchase(state) ? { kind: 'authorizing' } : impossible();
    case 'SALE':
      return mayPurchase(state) ? { kind: 'charging' } : impossible();
    case 'SALE3D':
      // Overdue: its authentication is over, and only its sale may be found.
      return mayPurchase(state) ? { kind: 'charging' } : impossible();
    case 'AUTH3D':
      return impossible();
    case 'SETTLE':
      return state.kind === 'authorized'
        ? { kind: 'settling', hold: state.hold, settlement: chargeOf(operation) }
        : impossible();
    case 'VOID':
      if (state.kind === 'authorized') return { kind: 'voiding', hold: state.hold };
      return state.kind === 'charged' && state.hold !== undefined
        ? { kind: 'voiding', hold: state.hold, charge: state.charge }
        : impossible();
    case 'REFUND':
      return state.kind === 'charged' ? { ...state, kind: 'refunding' } : impossible();
    case 'TOKENIZE':
      return impossible();
  }
}

export function mayPurchase(state: PaymentState): boolean {
  return mayBegin(state) || state.kind === 'authenticated';
}

function succeeded(state: PaymentState, operation: Operation, expiresAt: number | undefined): PaymentState {
  switch (state.kind) {
    case 'authorizing':
      if (expiresAt === undefined) return broken('an authorization without an end of its hold');
      return { kind: 'authorized', hold: { ...chargeOf(operation), expiresAt } };
    case 'charging':
      return { kind: 'charged', charge: chargeOf(operation) };
    case 'settling':
      return { kind: 'charged', charge: state.settlement, hold: state.hold };
    case 'voiding':
      return { kind: 'voided', hold: state.hold };
    case 'refunding':
      return { ...state, kind: 'refunded' };
    default:
      return broken(`nothing can succeed while ${state.kind}`);
  }
}

/** The state before a failed operation. */
function undone(state: PaymentState): PaymentState {
  switch (state.kind) {
    case 'authenticating':
    case 'authorizing':
    case 'charging':
      return CLOSED;
    case 'settling':
      return { kind: 'authorized', hold: state.hold };
    case 'voiding':
      return state.charge === undefined
        ? { kind: 'authorized', hold: state.hold }
        : { kind: 'charged', charge: state.charge, hold: state.hold };
    case 'refunding':
      return { ...state, kind: 'charged' };
    default:
      return broken(`nothing can end while ${state.kind}`);
  }
}

function holdMoved(state: PaymentState, { expiresAt, clockMs }: EventOf<'HoldMoved'>): PaymentState {
  if (!isHolding(state)) return broken(`no hold can move while ${state.kind}`);
  return { ...state, hold: { ...state.hold, expiresAt, clockMs } };
}

function proofMoved(state: PaymentState, { byMs, clockMs }: EventOf<'ProofMoved'>): PaymentState {
  if (state.kind !== 'authenticated') return broken(`no proof can move while ${state.kind}`);
  return { ...state, proof: { ...state.proof, olderMs: (state.proof.olderMs ?? 0) + byMs, clockMs } };
}

/** Kinds of states with a hold that can end. */
export const HOLDING_KINDS = ['authorized', 'settling', 'voiding'] as const;

export function isHolding(
  state: PaymentState,
): state is Extract<PaymentState, { kind: (typeof HOLDING_KINDS)[number] }> {
  return HOLDING_KINDS.some((kind) => kind === state.kind);
}

function chargeOf(operation: Operation): Charge {
  if (operation.amountE4 === undefined || operation.currency === undefined) return broken('money without an amount');
  return { reference: operation.reference, amountE4: operation.amountE4, currency: operation.currency };
}

function end(payment: Payment, reference: string, outcome: Partial<Operation>): Payment {
  return rested(change(payment, reference, outcome));
}

/**
 * Nothing is pending: the customer of an authentication is deleted, and the resolver has nothing to do. Overdue operations
 * that have waited are due at once.
 */
function rested(payment: Payment): Payment {
  const { pending: _pending, resolveAt: _resolveAt, inquiries: _inquiries, awaiting: _awaiting, ...rest } = payment;
  const isWaiting = rest.operations.some(({ status }) => status === 'pending');
  return isWaiting ? { ...rest, resolveAt: 0 } : rest;
}

/** The edge waits only for the first answer. */
function answered(awaiting: Awaiting | undefined): { awaiting?: Awaiting } {
  if (awaiting === undefined) return {};
  const { replyTo: _answered, ...rest } = awaiting;
  return { awaiting: rest };
}

function presented({ presentation }: { presentation?: CardPresentation }): { presentation?: CardPresentation } {
  return presentation === undefined ? {} : { presentation };
}

/**
 * Nothing is under way and no money is held, so that only the merchant can change it. What was collected can still be
 * refunded.
 */
export function isAtRest(payment: Payment): boolean {
  const { state, pending, refusal } = payment;
  if (pending !== undefined || refusal !== undefined || overdueOperations(payment).length > 0) return false;
  switch (state.kind) {
    case 'authenticating':
    case 'authorizing':
    case 'authorized':
    case 'charging':
    case 'settling':
    case 'voiding':
    case 'refunding':
      return false;
    case 'new':
    case 'closed':
    case 'tokenized':
    case 'authenticated':
    case 'charged':
    case 'voided':
    case 'refunded':
      return true;
  }
}

/** The one operation that waits for an acquirer or for an authentication. */
export function pendingReference({ pending, state }: Payment): string | undefined {
  return state.kind === 'authenticating' ? state.reference : pending?.reference;
}

function change(payment: Payment, reference: string, outcome: Partial<Operation>): Payment {
  if (pendingReference(payment) !== reference) return broken(`${reference} is not pending`);
  return withFields(payment, reference, outcome);
}

function withFields(payment: Payment, reference: string, fields: Partial<Operation>): Payment {
  return {
    ...payment,
    operations: payment.operations.map((operation) =>
      operation.reference === reference ? { ...operation, ...fields } : operation,
    ),
  };
}

function required(payment: Payment, reference: string): Operation {
  return findOperation(payment, reference) ?? broken(`${reference} is not on record`);
}

function broken(why: string): never {
  throw new Error(`broken invariant: ${why}`);
}
