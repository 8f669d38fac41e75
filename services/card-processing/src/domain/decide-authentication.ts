import type { DataOf, ResponseCode, ThreedsEvent } from '@gateway/contracts';
import { RESPONSE_CODES, cardStatusOfCode, messageOfCode } from '@gateway/contracts';
import type { CardholderAuthenticated } from '@gateway/contracts';
import type { CallDeadline } from './decide';
import type { Authentication, Operation, Payment, PaymentEvent } from './payment';
import { findOperation, pendingReference } from './payment';

/** architecture.md, invariant 5: the sale after a challenge is not run later than this after the authentication. */
const SALE_WITHIN_MS = 5 * 60_000;

/**
 * What an outcome of threeds means for its payment. Nothing for an operation that does not wait for it any more: it was
 * voided, ran out of time, or has heard this before.
 */
export function decideAuthentication(payment: Payment, { type, data }: ThreedsEvent, now: number): PaymentEvent[] {
  const { reference } = data;
  const operation = findOperation(payment, reference);
  if (operation === undefined || !isAuthenticating(payment, reference)) return [];
  switch (type) {
    case 'ChallengeRequired':
      if (operation.authentication !== undefined) return [];
      return [
        {
          type: 'AuthenticationStarted',
          reference,
          authentication: { ...pageOf(data), ids: data.ids, challenged: true },
        },
      ];
    case 'CardholderAuthenticated':
      return authenticated(operation, data, now);
    case 'AuthenticationRefused':
      return refused(operation, data);
  }
}

/** Of the sale that follows an authentication. */
export function saleDeadline({ occurredAt }: Pick<ThreedsEvent['data'], 'occurredAt'>): CallDeadline {
  return { at: occurredAt + SALE_WITHIN_MS, code: RESPONSE_CODES.TRANSACTION_EXPIRED };
}

/** For an operation whose authentication nobody ends: the threeds service has lost it, or is away. */
export function decideLostAuthentication(payment: Payment): PaymentEvent[] {
  const reference = pendingReference(payment);
  if (reference === undefined || !isAuthenticating(payment, reference)) return [];
  return [failed(reference, RESPONSE_CODES.TRANSACTION_EXPIRED)];
}

function isAuthenticating({ state }: Payment, reference: string): boolean {
  return state.kind === 'authenticating' && state.reference === reference;
}

function authenticated(
  operation: Operation,
  data: DataOf<typeof CardholderAuthenticated>,
  now: number,
): PaymentEvent[] {
  const { reference } = data;
  const authentication: Authentication = {
    ...operation.authentication,
    ...pageOf(data),
    ids: data.ids,
    challenged: data.challenged,
    eci: data.eci,
    authenticationValue: data.authenticationValue,
    ...(data.proofHash === undefined ? {} : { proofHash: data.proofHash }),
  };
  if (operation.type === 'AUTH3D') {
    return [{ type: 'CardAuthenticated', reference, authentication, authenticatedAt: data.occurredAt }];
  }
  if (now > saleDeadline(data).at) return [failed(reference, RESPONSE_CODES.TRANSACTION_EXPIRED)];
  return [{ type: 'AuthenticatedSaleStarted', reference, authentication, call: { reference, kind: 'sale' } }];
}

type Refused = Extract<ThreedsEvent, { type: 'AuthenticationRefused' }>['data'];

function refused(operation: Operation, data: Refused): PaymentEvent[] {
  const { reference, code } = data;
  if (cardStatusOfCode(code) !== 'decline') return [failed(reference, code)];
  const authentication: Authentication = {
    ...operation.authentication,
    challenged: data.challenged,
    ...(data.ids === undefined ? {} : { ids: data.ids }),
    ...(data.eci === undefined ? {} : { eci: data.eci }),
    ...(data.proofHash === undefined ? {} : { proofHash: data.proofHash }),
  };
  return [{ type: 'AuthenticationDeclined', reference, code, message: messageOfCode(code), authentication }];
}

function failed(reference: string, code: ResponseCode): PaymentEvent {
  return { type: 'OperationFailed', reference, code, message: messageOfCode(code) };
}

function pageOf({ acsUrl, pareq }: { acsUrl: string; pareq?: string }): { acsUrl: string; pareq?: string } {
  return { acsUrl, ...(pareq === undefined ? {} : { pareq }) };
}
