import type {
  AuthenticationIds,
  Customer,
  OperationStatus,
  OperationType,
  OutcomeUnknownCode,
  ResponseCode,
} from '@gateway/contracts';
import { RESPONSE_CODES, messageOfCode } from '@gateway/contracts';

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

/** What 3-D Secure has told about an AUTH3D or a SALE3D so far. */
export interface Authentication {
  ids?: AuthenticationIds;
  /** Where the browser goes. Present as soon as the cardholder can be authenticated. */
  acsUrl?: string;
  /** AUTH3D: what the merchant's page posts there. */
  pareq?: string;
  /** True when the issuer wanted to see the cardholder. */
  challenged: boolean;
  eci?: number;
  /** The issuer's cryptogram. Only who is authenticated has one. */
  authenticationValue?: string;
  /** AUTH3D: SHA-256 of the `pares` that the charge has to bring, in hex. */
  proofHash?: string;
}

/** What an authenticated charge shows its acquirer. */
export interface AuthenticationResult {
  ids: AuthenticationIds;
  eci: number;
  authenticationValue: string;
}

/** One entry of a payment's record: what was asked, and what came of it. */
export interface Operation {
  reference: string;
  type: OperationType;
  baseReference?: string;
  transactionUniqueId: string;
  amountE4?: number;
  currency?: string;
  token?: string;
  status: OperationStatus;
  /** While pending: what the merchant was told, `OUTCOME_UNKNOWN` as long as that is nothing. */
  code: ResponseCode;
  message: string;
  authcode: string | null;
  acceptedAt: number;
  bank?: BankFacts;
  /** The merchant's `custom_*` request fields; they travel in events. */
  custom?: Record<string, string>;
  authentication?: Authentication;
  /** Where the final outcome is told, when it has to be told at all: see `tellsMerchant`. */
  callbackUrl?: string;
  /** The edge could not tell the merchant any outcome: a callback tells the end. */
  announced?: true;
  /** Which attempt it is on its card-entry page, from 1. */
  checkoutAttempt?: number;
}

export interface Hold {
  reference: string;
  amountE4: number;
  currency: string;
  /** Epoch ms; from then on it cannot be settled. */
  expiresAt: number;
}

/** Money collected by a SALE or a SETTLE: what a REFUND gives back. */
export interface Charge {
  reference: string;
  amountE4: number;
  currency: string;
}

/** An AUTH3D that a charge may rely on, once: same card, amount and currency. */
export interface Proof {
  reference: string;
  amountE4: number;
  currency: string;
  token: string;
  /** Epoch ms. */
  authenticatedAt: number;
}

/**
 * Where the money is. Each variant carries just its own data; the names ending in -ing wait for somebody outside and
 * exclude every other operation as their success would. A voided AUTH3D has held no money.
 */
export type PaymentState =
  | { kind: 'new' }
  | { kind: 'closed' }
  | { kind: 'tokenized' }
  | { kind: 'authenticating'; reference: string }
  | { kind: 'authenticated'; proof: Proof }
  | { kind: 'authorizing' }
  | { kind: 'authorized'; hold: Hold }
  | { kind: 'selling' }
  | { kind: 'settling'; hold: Hold; settlement: Charge }
  | { kind: 'charged'; charge: Charge; hold?: Hold }
  | { kind: 'voiding'; hold: Hold; charge?: Charge }
  | { kind: 'voided'; hold?: Hold }
  | { kind: 'refunding'; charge: Charge; hold?: Hold }
  | { kind: 'refunded'; charge: Charge; hold?: Hold };

export type CallKind = 'authorize' | 'sale' | 'capture' | 'void' | 'refund';

/** The one call to the acquirer whose outcome is not known yet. */
export interface PendingCall {
  reference: string;
  kind: CallKind;
  /** The bank's transaction id of the operation that this one is based on. */
  originalTransactionId?: string;
}

/** Terminal and connector that the base operation took; everything that follows stays with them. */
export interface Route {
  acquirer: string;
  midReference: string;
  midId?: string;
  midName?: string;
  lateVoid: boolean;
  /** How long an authorization is held by terminal or scheme; the service's default where neither says anything. */
  holdSeconds?: number;
}

export interface Payment {
  merchantAccount: string;
  state: PaymentState;
  operations: readonly Operation[];
  pending?: PendingCall;
  route?: Route;
  cardBrand?: string;
  /** The card-entry page takes no attempt any more, and its last one has been told as final. */
  checkoutEnded?: true;
}

export function newPayment(merchantAccount: string): Payment {
  return { merchantAccount, state: { kind: 'new' }, operations: [] };
}

export type PaymentEvent =
  /** The intent: on record before the acquirer is called. */
  | {
      type: 'OperationStarted';
      operation: Operation;
      call: PendingCall;
      route?: Route;
      cardBrand?: string;
    }
  /** The intent of an AUTH3D or SALE3D: on record before the threeds service is asked. */
  | {
      type: 'AuthenticationRequested';
      operation: Operation;
      route: Route;
      cardBrand: string;
      request: { customer: Customer; redirectUrl?: string; deadline: number };
    }
  | { type: 'AuthenticationStarted'; reference: string; authentication: Authentication }
  | { type: 'CardAuthenticated'; reference: string; authentication: Authentication; authenticatedAt: number }
  /** The intent of the sale inside a SALE3D, on record before the acquirer is called. */
  | { type: 'AuthenticatedSaleStarted'; reference: string; authentication: Authentication; call: PendingCall }
  | {
      type: 'AuthenticationDeclined';
      reference: string;
      code: ResponseCode;
      message: string;
      authentication: Authentication;
    }
  /** A VOID that no acquirer hears of: nothing was held. */
  | { type: 'AuthenticationVoided'; operation: Operation }
  | { type: 'CheckoutEnded'; reference: string }
  | { type: 'OutcomeAnnounced'; reference: string; callbackUrl: string }
  | { type: 'OperationSucceeded'; reference: string; authcode: string | null; bank?: BankFacts; expiresAt?: number }
  | { type: 'OperationDeclined'; reference: string; code: ResponseCode; message: string; bank?: BankFacts }
  | { type: 'OperationFailed'; reference: string; code: ResponseCode; message: string }
  | { type: 'OutcomeBecameUnknown'; reference: string; code: OutcomeUnknownCode; message: string }
  /** Ended without any acquirer: refused by a rule, declined by a property of the card, recorded for a token. */
  | { type: 'OperationRecorded'; operation: Operation };

export function findOperation(payment: Payment, reference: string): Operation | undefined {
  return payment.operations.find((operation) => operation.reference === reference);
}

/** The payment after an event. Pure; events that make no sense in a state are a broken invariant and throw. */
export function evolve(payment: Payment, event: PaymentEvent): Payment {
  switch (event.type) {
    case 'OperationRecorded':
      return recorded(payment, event.operation);
    case 'OperationStarted':
      return {
        ...payment,
        operations: [...payment.operations, event.operation],
        state: started(payment.state, event.operation),
        pending: event.call,
        ...(event.route === undefined ? {} : { route: event.route }),
        ...(event.cardBrand === undefined ? {} : { cardBrand: event.cardBrand }),
      };
    case 'AuthenticationRequested':
      return {
        ...payment,
        operations: [...payment.operations, event.operation],
        state: mayBegin(payment.state)
          ? { kind: 'authenticating', reference: event.operation.reference }
          : broken(`nothing can be authenticated while ${payment.state.kind}`),
        route: event.route,
        cardBrand: event.cardBrand,
      };
    case 'AuthenticationStarted':
      return change(payment, event.reference, { authentication: event.authentication });
    case 'CardAuthenticated': {
      const ended = change(payment, event.reference, {
        ...SUCCESS,
        authcode: null,
        authentication: event.authentication,
      });
      const proof = proofOf(required(payment, event.reference), event.authenticatedAt);
      return { ...ended, state: { kind: 'authenticated', proof } };
    }
    case 'AuthenticatedSaleStarted': {
      const started = change(payment, event.reference, { authentication: event.authentication });
      return { ...started, state: { kind: 'selling' }, pending: event.call };
    }
    case 'AuthenticationDeclined': {
      const { reference, code, message, authentication } = event;
      return { ...change(payment, reference, { status: 'decline', code, message, authentication }), state: CLOSED };
    }
    case 'AuthenticationVoided':
      return { ...payment, operations: [...payment.operations, event.operation], state: { kind: 'voided' } };
    case 'CheckoutEnded':
      return { ...payment, checkoutEnded: true };
    case 'OutcomeAnnounced':
      return withFields(payment, event.reference, { announced: true, callbackUrl: event.callbackUrl });
    case 'OutcomeBecameUnknown':
      return change(payment, event.reference, { code: event.code, message: event.message });
    case 'OperationSucceeded': {
      const operation = required(payment, event.reference);
      const ended = end(payment, event.reference, {
        ...SUCCESS,
        authcode: event.authcode,
        ...(event.bank === undefined ? {} : { bank: event.bank }),
      });
      return { ...ended, state: succeeded(payment.state, operation, event.expiresAt) };
    }
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
  }
}

const SUCCESS = {
  status: 'success',
  code: RESPONSE_CODES.SUCCESS,
  message: messageOfCode(RESPONSE_CODES.SUCCESS),
} as const;
const CLOSED: PaymentState = { kind: 'closed' };

/** Nothing has begun, or what has begun came to nothing, as an attempt on a card-entry page may. */
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

/** A follow-up that came before its base leaves the place to it. */
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
      return mayCharge(state) ? { kind: 'authorizing' } : impossible();
    case 'SALE':
      return mayCharge(state) ? { kind: 'selling' } : impossible();
    case 'AUTH3D':
    case 'SALE3D':
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

function mayCharge(state: PaymentState): boolean {
  return mayBegin(state) || state.kind === 'authenticated';
}

function succeeded(state: PaymentState, operation: Operation, expiresAt: number | undefined): PaymentState {
  switch (state.kind) {
    case 'authorizing':
      if (expiresAt === undefined) return broken('an authorization without an end of its hold');
      return { kind: 'authorized', hold: { ...chargeOf(operation), expiresAt } };
    case 'selling':
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

/** The state from before an operation that came to nothing. */
function undone(state: PaymentState): PaymentState {
  switch (state.kind) {
    case 'authenticating':
    case 'authorizing':
    case 'selling':
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

function chargeOf(operation: Operation): Charge {
  if (operation.amountE4 === undefined || operation.currency === undefined) return broken('money without an amount');
  return { reference: operation.reference, amountE4: operation.amountE4, currency: operation.currency };
}

function end(payment: Payment, reference: string, outcome: Partial<Operation>): Payment {
  const { pending: _ended, ...rest } = change(payment, reference, outcome);
  return rest;
}

/** The one operation that waits for somebody outside. */
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
