import type { AuthenticationPath, DataOf, ResponseCode, ThreedsEvent } from '@gateway/contracts';
import { RESPONSE_CODES, cardStatusOfCode, coded } from '@gateway/contracts';
import type { CardholderAuthenticated } from '@gateway/contracts';
import type { CallDeadline } from './decide';
import { lostCall, OVERDUE_AFTER_MS } from './overdue';
import type { Authentication, Operation, Payment, PaymentEvent } from './payment';
import { findOperation, pendingReference } from './payment';

/** The longest time between an authentication and its sale (architecture.md, invariant 5). */
export const SALE_WITHIN_MS = 5 * 60_000;

/** Epoch ms: now, and from when a resolver may look for the outcome of a sale that begins now. */
export interface AuthenticationTimes {
  now: number;
  leaseEnd: number;
  /** The service is in recovery: the sale may have been made, and its record lost, whatever its age. */
  mayBeLost?: boolean;
}

/**
 * Applies a message from threeds. Empty if the operation no longer waits for it: it was voided, ran out of time, or
 * already had this message.
 */
export function decideAuthentication(
  payment: Payment,
  { type, data }: ThreedsEvent,
  times: AuthenticationTimes,
): PaymentEvent[] {
  const { reference } = data;
  const operation = findOperation(payment, reference);
  if (operation === undefined || payment.awaiting === undefined || !isAuthenticating(payment, reference)) return [];
  switch (type) {
    case 'ChallengeRequired':
      if (operation.authentication !== undefined) return [];
      return [
        {
          type: 'AuthenticationStarted',
          reference,
          authentication: {
            ...pageOf(data),
            ids: data.ids,
            challenged: true,
            path: 'challenge',
            challengedAt: data.occurredAt,
          },
        },
      ];
    case 'CardholderAuthenticated':
      return authenticated(operation, data, times);
    case 'AuthenticationRefused':
      return refused(operation, data);
  }
}

/** The events of the sale that follows an authentication. */
export function saleDeadline({ occurredAt }: Pick<ThreedsEvent['data'], 'occurredAt'>): CallDeadline {
  return { at: occurredAt + SALE_WITHIN_MS, code: RESPONSE_CODES.TRANSACTION_EXPIRED };
}

/**
 * Ends an operation whose authentication never ended, because the threeds service lost it or is down. A SALE3D may have
 * been charged, if the record of it is lost.
 */
export function decideLostAuthentication(payment: Payment, now: number): PaymentEvent[] {
  const reference = pendingReference(payment);
  if (reference === undefined || !isAuthenticating(payment, reference)) return [];
  const { type, authentication = { challenged: false } } = findOperation(payment, reference) ?? {};
  if (type === 'SALE3D') return [lostSale(reference, authentication, now)];
  return [failed(reference, RESPONSE_CODES.TRANSACTION_EXPIRED)];
}

function isAuthenticating({ state }: Payment, reference: string): boolean {
  return state.kind === 'authenticating' && state.reference === reference;
}

function authenticated(
  operation: Operation,
  data: DataOf<typeof CardholderAuthenticated>,
  { now, leaseEnd, mayBeLost = false }: AuthenticationTimes,
): PaymentEvent[] {
  const { reference } = data;
  const authentication: Authentication = {
    ...operation.authentication,
    ...pageOf(data),
    ids: data.ids,
    challenged: data.challenged,
    eci: data.eci,
    authenticationValue: data.authenticationValue,
    path: data.challenged ? 'challenge' : 'frictionless',
    endedAt: data.occurredAt,
    ...(data.proofHash === undefined ? {} : { proofHash: data.proofHash }),
  };
  if (operation.type === 'AUTH3D') {
    return [{ type: 'CardAuthenticated', reference, authentication, authenticatedAt: data.occurredAt }];
  }
  const { at } = saleDeadline(data);
  if (mayBeLost || now > at + OVERDUE_AFTER_MS) return [lostSale(reference, authentication, now)];
  if (now > at) return [failed(reference, RESPONSE_CODES.TRANSACTION_EXPIRED)];
  const call = { reference, kind: 'sale' } as const;
  return [{ type: 'AuthenticatedSaleStarted', reference, authentication, call, resolveAt: leaseEnd }];
}

/** Its sale may have been made, and its record lost: it ends with 3024 once the acquirer confirms that it was not. */
function lostSale(reference: string, authentication: Authentication, now: number): PaymentEvent {
  const call = { reference, kind: 'sale', ...lostCall(RESPONSE_CODES.TRANSACTION_EXPIRED) } as const;
  return { type: 'AuthenticatedSaleStarted', reference, authentication, call, resolveAt: now };
}

type Refused = Extract<ThreedsEvent, { type: 'AuthenticationRefused' }>['data'];

function refused(operation: Operation, data: Refused): PaymentEvent[] {
  const { reference, code, dueClockMs } = data;
  if (cardStatusOfCode(code) !== 'decline') return [failed(reference, code, dueClockMs)];
  const authentication: Authentication = {
    ...operation.authentication,
    challenged: data.challenged,
    path: pathOfRefusal(data),
    endedAt: data.occurredAt,
    ...(data.ids === undefined ? {} : { ids: data.ids }),
    ...(data.eci === undefined ? {} : { eci: data.eci }),
    ...(data.proofHash === undefined ? {} : { proofHash: data.proofHash }),
  };
  return [{ type: 'AuthenticationDeclined', reference, ...coded(code), authentication }];
}

function pathOfRefusal({ challenged, code, ids }: Refused): AuthenticationPath {
  if (challenged) return 'challenge';
  if (code === RESPONSE_CODES.CARD_WITHOUT_3DS) return 'attempt';
  // Whoever has answered has given the transaction an id.
  return ids?.dsTransId === undefined ? 'unavailable' : 'frictionless';
}

function failed(reference: string, code: ResponseCode, dueClockMs?: number): PaymentEvent {
  return { type: 'OperationFailed', reference, ...coded(code), ...(dueClockMs === undefined ? {} : { dueClockMs }) };
}

function pageOf({ acsUrl, pareq }: { acsUrl: string; pareq?: string }): { acsUrl: string; pareq?: string } {
  return { acsUrl, ...(pareq === undefined ? {} : { pareq }) };
}
