import type { CardCommand } from '@gateway/contracts';
import type { CardRequest, CheckRequest } from '../domain/card-request';
import { maskCardNumbers } from '../domain/masking';

/** A request that becomes an operation; AUTH3D and SALE3D come with the threeds service. */
export type OperationRequest = Exclude<
  CardRequest,
  CheckRequest | { transactionType: 'AUTH3D' } | { transactionType: 'SALE3D' }
>;

/** The operation that a request refers to, in whatever field its type has for it. */
export function baseReferenceOf(request: OperationRequest): string | undefined {
  if ('baseReference' in request) return request.baseReference;
  return 'authentication' in request ? request.authentication?.reference : undefined;
}

/** The request with the card number masked that it names as its reference, by mistake or not. */
export function withMaskedReference(request: OperationRequest): OperationRequest {
  if ('baseReference' in request) return { ...request, baseReference: maskCardNumbers(request.baseReference) };
  if (!('authentication' in request) || request.authentication === undefined) return request;
  const { reference, pares } = request.authentication;
  return { ...request, authentication: { reference: maskCardNumbers(reference), pares } };
}

interface Accepted {
  paymentId: string;
  reference: string;
  merchantAccount: string;
  acceptedAt: number;
  deadline: number;
  token: string | undefined;
}

/** The command that a valid request becomes. Card data stays behind: the command carries its token. */
export function commandOf(request: OperationRequest, { token, ...accepted }: Accepted): CardCommand {
  const common = { ...accepted, transactionUniqueId: request.transactionUniqueId, notes: request.notes };
  switch (request.transactionType) {
    case 'AUTH':
      return { type: 'AuthorizeCard', data: { ...common, ...charge(request, token) } };
    case 'SALE':
      return { type: 'SellCard', data: { ...common, ...charge(request, token) } };
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
      return { type: 'TokenizeCard', data: { ...common, token: requiredToken(token) } };
  }
}

function charge(request: Extract<OperationRequest, { instrument: unknown }>, token: string | undefined) {
  const { amountE4, currency, customer, midReference, cofType, instrument, authentication } = request;
  return {
    amountE4,
    currency,
    customer,
    token: requiredToken(token),
    withCvv: instrument.kind === 'card' && instrument.cvv !== undefined,
    ...(midReference === undefined ? {} : { midReference }),
    ...(cofType === undefined ? {} : { cofType }),
    ...(authentication === undefined ? {} : { authentication }),
  };
}

function requiredToken(token: string | undefined): string {
  if (token === undefined) throw new Error('broken invariant: a card operation without a token');
  return token;
}
