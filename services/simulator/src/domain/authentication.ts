import type { CardBehaviour } from '@gateway/contracts';
import type { MaskedCard } from './masked-card';

/** EMV 3-D Secure 2.2, the only version supported. */
export const MESSAGE_VERSION = '2.2.0';

/** An AReq as the directory server keeps it. EMVCo's fields keep EMVCo's names. */
export interface AuthenticationRequest {
  threeDSServerTransID: string;
  /** Receives the result of a challenge. */
  threeDSServerURL: string;
  /** The browser returns here after a challenge. */
  notificationURL: string;
  card: MaskedCard;
  behaviour: CardBehaviour;
  merchantName: string;
  /** In 1/10000 of the currency. */
  amountE4: number;
  /** ISO 4217 numeric, e.g. `963`. */
  purchaseCurrency: string;
}

/** True if a repeated transaction id arrives with the same request, as far as the directory server kept it. */
export function sameAuthentication(a: AuthenticationRequest, b: AuthenticationRequest): boolean {
  return (
    a.threeDSServerURL === b.threeDSServerURL &&
    a.notificationURL === b.notificationURL &&
    a.card.brand === b.card.brand &&
    a.card.last4 === b.card.last4 &&
    a.behaviour === b.behaviour &&
    a.merchantName === b.merchantName &&
    a.amountE4 === b.amountE4 &&
    a.purchaseCurrency === b.purchaseCurrency
  );
}

/** How an authentication ended, in the fields of ARes and RReq. */
export interface AuthenticationOutcome {
  transStatus: 'Y' | 'A' | 'N' | 'R';
  transStatusReason?: string;
  eci?: string;
  /** The issuer's cryptogram: 28 characters, base64 of 20 bytes. */
  authenticationValue?: string;
  /** `01`: cancelled by the cardholder. */
  challengeCancel?: '01';
}

export const CHALLENGE_DECISIONS = ['success', 'failure', 'cancel'] as const;
/** The button pressed on the issuer's page. */
export type ChallengeDecision = (typeof CHALLENGE_DECISIONS)[number];

/** Delivery of the result message. */
export type Delivery =
  /** `attempts` have failed. Nobody may try again before `nextAt`, epoch ms. */
  | { state: 'due'; attempts: number; nextAt: number }
  /** `refused`: the 3DS server answered 4xx. `given-up`: no attempt succeeded. */
  | { state: 'taken' | 'refused' | 'given-up'; attempts: number };

interface Identified {
  acsTransID: string;
  dsTransID: string;
  request: AuthenticationRequest;
  /** When the request arrived, epoch ms. */
  at: number;
}

/** Ended without a challenge. */
export type AnsweredAuthentication = Identified & { state: 'answered'; outcome: AuthenticationOutcome };

/** Waits for the cardholder. */
export type OpenChallenge = Identified & {
  state: 'challenged';
  /** Goes into the outcome if the challenge succeeds. */
  authenticationValue: string;
};

export type DecidedChallenge = Identified & {
  state: 'decided';
  decision: ChallengeDecision;
  /** Epoch ms. */
  decidedAt: number;
  outcome: AuthenticationOutcome;
  delivery: Delivery;
};

/** Everything that directory server and ACS know about one authentication. */
export type Authentication = AnsweredAuthentication | OpenChallenge | DecidedChallenge;

/** Electronic commerce indicator; Mastercard has its own values. */
function eciOf(outcome: 'authenticated' | 'attempted', brand: MaskedCard['brand']): string {
  if (brand === 'mastercard') return outcome === 'authenticated' ? '02' : '01';
  return outcome === 'authenticated' ? '05' : '06';
}

/** Neither authenticated nor attempted. */
const ECI_FAILED = '07';
/** EMV 3-D Secure, transStatusReason: "Transaction not permitted to cardholder" and "No Card record". */
const NOT_PERMITTED = '12';
const NO_CARD_RECORD = '08';

export interface AuthenticationFacts {
  /** Epoch ms. */
  now: number;
  dsTransID: string;
  acsTransID: string;
  /** The issuer's cryptogram, used if the issuer vouches for the cardholder. */
  authenticationValue: string;
}

/** Decides on a new transaction id. `unavailable` leaves no record. */
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

/** Identifies a challenge. Knowing both ids is the permission to see and answer it. */
export interface ChallengeIds {
  acsTransID: string;
  threeDSServerTransID: string;
}

/** Records the cardholder's decision. The caller makes the first attempt to deliver the result. */
export function decideChallenge(challenge: OpenChallenge, decision: ChallengeDecision, now: number): DecidedChallenge {
  const { acsTransID, dsTransID, request, at } = challenge;
  return {
    acsTransID,
    dsTransID,
    request,
    at,
    state: 'decided',
    decision,
    decidedAt: now,
    outcome: outcomeOf(challenge, decision),
    delivery: leased(0, now),
  };
}

function outcomeOf(challenge: OpenChallenge, decision: ChallengeDecision): AuthenticationOutcome {
  const { authenticationValue, request } = challenge;
  switch (decision) {
    case 'success':
      return { transStatus: 'Y', eci: eciOf('authenticated', request.card.brand), authenticationValue };
    case 'failure':
      return { transStatus: 'N' };
    case 'cancel':
      return { transStatus: 'N', challengeCancel: '01' };
  }
}

/** How long the 3DS server may take to answer. */
export const RESULT_TIMEOUT_MS = 5_000;
/** If the process dies during an attempt, another one may follow after this time. */
const ATTEMPT_LEASE_MS = 2 * RESULT_TIMEOUT_MS;
/** Before the second, third, … attempt, counted from the end of the previous one. */
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000];

/** `refused`: the 3DS server answered 4xx. `not-taken`: no usable answer. */
export type AttemptEnd = 'taken' | 'refused' | 'not-taken';

/** Reserves the next attempt for the caller. */
function leased(attempts: number, now: number): Delivery {
  return { state: 'due', attempts, nextAt: now + ATTEMPT_LEASE_MS };
}

/** Undefined if nothing is left to send, or not yet. */
export function claimed(challenge: DecidedChallenge, now: number): DecidedChallenge | undefined {
  const { delivery } = challenge;
  if (delivery.state !== 'due' || delivery.nextAt > now) return undefined;
  return { ...challenge, delivery: leased(delivery.attempts, now) };
}

export function afterAttempt(challenge: DecidedChallenge, end: AttemptEnd, now: number): DecidedChallenge {
  const attempts = challenge.delivery.attempts + 1;
  return { ...challenge, delivery: deliveryAfter(attempts, end, now) };
}

function deliveryAfter(attempts: number, end: AttemptEnd, now: number): Delivery {
  if (end !== 'not-taken') return { state: end, attempts };
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  return delayMs === undefined ? { state: 'given-up', attempts } : { state: 'due', attempts, nextAt: now + delayMs };
}

export interface AuthenticationResponse {
  messageType: 'ARes';
  messageVersion: string;
  threeDSServerTransID: string;
  dsTransID: string;
  acsTransID: string;
  /** `C`: the cardholder must be challenged, at `acsURL`. */
  transStatus: AuthenticationOutcome['transStatus'] | 'C';
  transStatusReason?: string;
  eci?: string;
  authenticationValue?: string;
  acsURL?: string;
}

/** Repeats the first answer, whatever has become of a challenge since. */
export function authenticationResponse(authentication: Authentication, acsURL: string): AuthenticationResponse {
  return {
    messageType: 'ARes',
    ...idsOf(authentication),
    ...(authentication.state === 'answered' ? authentication.outcome : { transStatus: 'C', acsURL }),
  };
}

export type ResultRequest = ReturnType<typeof resultRequest>;

/** The result of a challenge for the 3DS server. Every attempt sends the same bytes. */
export function resultRequest(challenge: DecidedChallenge) {
  return {
    messageType: 'RReq' as const,
    ...idsOf(challenge),
    messageCategory: '01',
    ...challenge.outcome,
    interactionCounter: '01',
  };
}

function idsOf({ request, dsTransID, acsTransID }: Authentication) {
  const { threeDSServerTransID } = request;
  return { messageVersion: MESSAGE_VERSION, threeDSServerTransID, dsTransID, acsTransID };
}

/** The browser carries this back to the 3DS server. It proves nothing; the result message does. */
export function challengeResponse({ acsTransID, threeDSServerTransID }: ChallengeIds, decision: ChallengeDecision) {
  return {
    messageType: 'CRes',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID,
    acsTransID,
    challengeCompletionInd: 'Y',
    transStatus: decision === 'success' ? 'Y' : 'N',
  };
}
