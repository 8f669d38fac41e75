import { maskCardNumbers } from '@gateway/contracts';
import type { CardCommand, NumberLimit, Secret, TestMark } from '@gateway/contracts';
import type { CardRequest, CheckRequest, PurchaseRequest } from '../domain/card-request';

/** A request that becomes an operation. */
export type OperationRequest = Exclude<CardRequest, CheckRequest>;
type CardholderRequest = Extract<OperationRequest, { instrument: unknown }>;

/** The operation that a request refers to, in the field that its type uses. */
export function baseReferenceOf(request: OperationRequest): string | undefined {
  if ('baseReference' in request) return request.baseReference;
  return 'authentication' in request ? request.authentication?.reference : undefined;
}

/** The request with a card number in its reference masked, in case the merchant sent one there. */
export function withMaskedReference(request: OperationRequest): OperationRequest {
  if ('baseReference' in request) return { ...request, baseReference: maskCardNumbers(request.baseReference) };
  if (!('authentication' in request) || request.authentication === undefined) return request;
  const { reference, pares } = request.authentication;
  return { ...request, authentication: { reference: maskCardNumbers(reference), pares } };
}

interface Accepted extends TestMark {
  paymentId: string;
  reference: string;
  merchantAccount: string;
  acceptedAt: number;
  deadline: number;
  card: CardOfOperation | undefined;
  /** On a card-entry page. */
  attempt: { n: number; browserIp: string } | undefined;
}

/** A card in the vault, or one that was refused: its token names none. */
export interface CardOfOperation {
  token: string;
  overLimit?: NumberLimit;
}

/** Long ago. A processor of an earlier release does not know the limits, and refuses such a command as late. */
const NEVER_TO_BE_EXECUTED = 0;

/** The command of a valid request. It carries the card's token, not its data. */
export function commandOf(request: OperationRequest, accepted: Accepted): CardCommand {
  const { card, attempt: _, ...known } = accepted;
  const deadline = card?.overLimit === undefined ? known.deadline : NEVER_TO_BE_EXECUTED;
  const common = { ...known, deadline, transactionUniqueId: request.transactionUniqueId, notes: request.notes };
  switch (request.transactionType) {
    case 'AUTH':
      return { type: 'AuthorizeCard', data: { ...common, ...cardholder(request, accepted), ...proof(request) } };
    case 'SALE':
      return { type: 'ChargeCard', data: { ...common, ...cardholder(request, accepted), ...proof(request) } };
    case 'AUTH3D': {
      const { redirectUrl } = request;
      const data = {
        ...common,
        ...cardholder(request, accepted),
        ...(redirectUrl === undefined ? {} : { redirectUrl }),
      };
      return { type: 'AuthenticateCard', data };
    }
    case 'SALE3D': {
      const { redirectUrl } = request;
      return { type: 'AuthenticateAndChargeCard', data: { ...common, ...cardholder(request, accepted), redirectUrl } };
    }
    case 'SETTLE': {
      const { baseReference, amountE4, currency } = request;
      return { type: 'SettleAuthorization', data: { ...common, baseReference, amountE4, currency } };
    }
    case 'VOID':
      return { type: 'VoidAuthorization', data: { ...common, baseReference: request.baseReference } };
    case 'REFUND': {
      const { baseReference, amountE4, currency } = request;
      return { type: 'RefundCharge', data: { ...common, baseReference, amountE4, currency } };
    }
    case 'TOKENIZE':
      return { type: 'TokenizeCard', data: { ...common, ...requiredCard(card) } };
  }
}

function cardholder(request: CardholderRequest, { card, attempt }: Accepted) {
  const { amountE4, currency, customer, midReference, cofType, callbackUrl } = request;
  return {
    amountE4,
    currency,
    customer,
    ...requiredCard(card),
    withCvv: cvvOf(request) !== undefined,
    ...(midReference === undefined ? {} : { midReference }),
    ...(cofType === undefined ? {} : { cofType }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(attempt === undefined ? {} : { checkoutAttempt: attempt.n, browserIp: attempt.browserIp }),
  };
}

function proof({ authentication }: PurchaseRequest) {
  return authentication === undefined ? {} : { authentication };
}

/** The CVV for the acquirer. An AUTH3D calls none, so its CVV is not kept. */
export function cvvOf(request: OperationRequest): Secret | undefined {
  if (!('instrument' in request) || request.transactionType === 'AUTH3D') return undefined;
  return request.instrument.kind === 'card' ? request.instrument.cvv : undefined;
}

function requiredCard(card: CardOfOperation | undefined): CardOfOperation {
  if (card === undefined) throw new Error('broken invariant: a card operation without a card');
  return card;
}
