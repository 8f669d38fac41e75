import type { Authentication, AuthenticationOutcome, AuthenticationRequest } from './authentication';
import { ECI_FAILED, eciOf } from './eci';

export interface AuthenticationFacts {
  /** Epoch ms. */
  now: number;
  dsTransID: string;
  acsTransID: string;
  /** The issuer's cryptogram, should it vouch for the cardholder. */
  authenticationValue: string;
}

/** EMV 3-D Secure, transStatusReason: "Transaction not permitted to cardholder" and "No Card record". */
const NOT_PERMITTED = '12';
const NO_CARD_RECORD = '08';

/** What becomes of an authentication that nobody asked for before; `unavailable` leaves no trace. */
export function decideAuthentication(
  request: AuthenticationRequest,
  { now, dsTransID, acsTransID, authenticationValue }: AuthenticationFacts,
): Authentication | 'unavailable' {
  const known = { acsTransID, dsTransID, request, at: now };
  const answered = (outcome: AuthenticationOutcome): Authentication => ({ ...known, state: 'answered', outcome });
  const { brand } = request.card;
  switch (request.behaviour) {
    case 'challenge':
      return { ...known, state: 'challenged', authenticationValue };
    case 'authenticate':
      return answered({ transStatus: 'Y', eci: eciOf('authenticated', brand), authenticationValue });
    case 'attempt':
      return answered({ transStatus: 'A', eci: eciOf('attempted', brand), authenticationValue });
    case 'reject':
      return answered({ transStatus: 'R', transStatusReason: NOT_PERMITTED, eci: ECI_FAILED });
    case 'not-enrolled':
      return answered({ transStatus: 'N', transStatusReason: NO_CARD_RECORD });
    case 'be-unavailable':
      return 'unavailable';
  }
}
