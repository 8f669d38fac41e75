import type { AuthenticationIds, ResponseCode, SandboxClock } from '@gateway/contracts';
import { dueInMove, movedSince, RESPONSE_CODES, sooner, TEST_CURRENCY } from '@gateway/contracts';
import type { Authentication, AuthenticationEvent, CardFacts, ChallengeResult, Scheme } from './authentication';
import { isExpired } from './authentication';
import { ECI_FAILED, eciOf } from './scheme';

/** EMVCo's transStatusReason "no card record": the card does not take part. */
const NOT_ENROLLED = '08';
/** EMVCo's challengeCancel "cardholder selected cancel". The other values are time-outs and faults. */
const CANCELLED_BY_CARDHOLDER = '01';

/** The directory server's answer about a card. */
export type DirectoryAnswer =
  | {
      kind: 'answered';
      transStatus: 'Y' | 'N' | 'U' | 'A' | 'C' | 'R';
      transStatusReason?: string;
      dsTransId: string;
      acsTransId: string;
      authenticationValue?: string;
      acsUrl?: string;
    }
  /** No answer, an unreadable one, or an error message. */
  | { kind: 'unavailable' }
  /** Not asked: the deadline passed while the request waited for its turn. */
  | { kind: 'too-late' };

export interface AnswerFacts {
  card: CardFacts;
  now: number;
  challengeTimeoutMs: number;
}

/** The event for the directory server's answer; undefined if an answer is already stored. */
export function decideAnswer(
  authentication: Authentication,
  answer: DirectoryAnswer,
  { card, now, challengeTimeoutMs }: AnswerFacts,
): AuthenticationEvent | undefined {
  if (authentication.state.kind !== 'requested') return undefined;
  const late = decideDeadline(authentication, now);
  if (late !== undefined) return late;
  if (answer.kind === 'too-late') return refuseRequest(authentication, RESPONSE_CODES.OUTCOME_UNKNOWN);
  const outcomes = outcomesOf(card.scheme, false);
  if (answer.kind === 'unavailable') return outcomes.failed(authentication.ids);
  const ids = { ...authentication.ids, dsTransId: answer.dsTransId, acsTransId: answer.acsTransId };
  switch (answer.transStatus) {
    case 'Y':
      return outcomes.authenticated(ids, answer.authenticationValue);
    case 'C':
      if (answer.acsUrl === undefined) return outcomes.failed(ids);
      return { type: 'ChallengeStarted', ids, acsUrl: answer.acsUrl, card, expiresAt: now + challengeTimeoutMs };
    case 'A':
      return outcomes.attempted(ids);
    case 'N':
      return answer.transStatusReason === NOT_ENROLLED ? outcomes.attempted(ids) : outcomes.failed(ids);
    case 'U':
    case 'R':
      return outcomes.failed(ids);
  }
}

/** After the deadline the merchant no longer waits for the first answer, so the authentication must not proceed. */
export function decideDeadline(authentication: Authentication, now: number): AuthenticationEvent | undefined {
  return now > authentication.deadline ? refuseRequest(authentication, RESPONSE_CODES.OUTCOME_UNKNOWN) : undefined;
}

/** The card is not, or no longer, in the vault. */
export function decideCardUnknown(authentication: Authentication): AuthenticationEvent | undefined {
  return refuseRequest(authentication, RESPONSE_CODES.TOKEN_NOT_FOUND);
}

/** The command can never be processed. */
export function decideUnprocessable(authentication: Authentication): AuthenticationEvent | undefined {
  return refuseRequest(authentication, RESPONSE_CODES.PROCESSING_ERROR);
}

function refuseRequest({ state, ids }: Authentication, code: ResponseCode): AuthenticationEvent | undefined {
  return state.kind === 'requested' ? { type: 'Refused', ids, challenged: false, code } : undefined;
}

/** A result message, with the ids of its transaction. */
export interface ReceivedResult {
  dsTransId: string;
  acsTransId: string;
  result: ChallengeResult;
}

export type ResultRefusal = 'other-transaction' | 'not-awaited' | 'expired' | 'already-decided';

export type ResultVerdict =
  | { kind: 'taken'; event: AuthenticationEvent }
  /** Identical to the stored result: gets the same answer. */
  | { kind: 'repeated' }
  | { kind: 'refused'; reason: ResultRefusal };

/** Decides whether a result message counts: it must match the authentication, and is used once. */
export function decideResult(authentication: Authentication, received: ReceivedResult, now: number): ResultVerdict {
  const { ids, state } = authentication;
  const { result } = received;
  if (received.dsTransId !== ids.dsTransId || received.acsTransId !== ids.acsTransId) {
    return { kind: 'refused', reason: 'other-transaction' };
  }
  switch (state.kind) {
    case 'requested':
      return { kind: 'refused', reason: 'not-awaited' };
    case 'challenge':
      if (isExpired(authentication, now)) return { kind: 'refused', reason: 'expired' };
      return { kind: 'taken', event: outcomeOfResult(ids, state.card.scheme, result) };
    case 'authenticated':
    case 'refused':
      if (!state.challenged) return { kind: 'refused', reason: 'not-awaited' };
      if (state.result === undefined) return { kind: 'refused', reason: 'expired' };
      return isSame(state.result, result) ? { kind: 'repeated' } : { kind: 'refused', reason: 'already-decided' };
  }
}

function outcomeOfResult(ids: AuthenticationIds, scheme: Scheme, result: ChallengeResult): AuthenticationEvent {
  const outcomes = outcomesOf(scheme, true, result);
  switch (result.transStatus) {
    case 'Y':
      return outcomes.authenticated(ids, result.authenticationValue);
    case 'A':
      return outcomes.attempted(ids);
    case 'N':
      return result.challengeCancel === CANCELLED_BY_CARDHOLDER ? outcomes.cancelled(ids) : outcomes.failed(ids);
    case 'U':
    case 'R':
      return outcomes.failed(ids);
  }
}

function isSame(one: ChallengeResult, other: ChallengeResult): boolean {
  return (
    one.transStatus === other.transStatus &&
    one.eci === other.eci &&
    one.authenticationValue === other.authenticationValue &&
    one.challengeCancel === other.challengeCancel
  );
}

/** Ends a challenge that the cardholder did not finish in time. */
export function decideExpiry(authentication: Authentication, now: number): AuthenticationEvent | undefined {
  if (!isExpired(authentication, now)) return undefined;
  const { ids, state } = authentication;
  const due = state.kind === 'challenge' ? dueClockOf(state.dueClockMs) : {};
  return { type: 'Refused', ids, challenged: true, code: RESPONSE_CODES.TRANSACTION_EXPIRED, ...due };
}

/** Lets a challenge follow the clock of its sandbox account; undefined if there is none, or if it has. */
export function decideClock(
  { state, currency }: Authentication,
  clock: SandboxClock,
  { now, challengeTimeoutMs }: Omit<AnswerFacts, 'card'>,
): AuthenticationEvent | undefined {
  if (state.kind !== 'challenge' || currency !== TEST_CURRENCY) return undefined;
  const { expiresAt, clockMs } = state;
  if (clockMs !== undefined && clockMs >= clock.aheadMs) return undefined;
  const byMs = movedSince(clock, { since: expiresAt - challengeTimeoutMs, clockMs });
  return {
    type: 'ChallengeMoved',
    expiresAt: sooner(expiresAt, byMs, now),
    clockMs: clock.aheadMs,
    ...dueClockOf(dueInMove(clock, { byMs, time: expiresAt, now })),
  };
}

function dueClockOf(dueClockMs: number | undefined): { dueClockMs?: number } {
  return dueClockMs === undefined ? {} : { dueClockMs };
}

/** The possible outcomes of an authentication: the table of decisions.md, section 3. */
function outcomesOf(scheme: Scheme, challenged: boolean, result?: ChallengeResult) {
  const told = { challenged, ...(result === undefined ? {} : { result }) };
  const refused = (ids: AuthenticationIds, code: ResponseCode, eci?: number): AuthenticationEvent => ({
    type: 'Refused',
    ids,
    code,
    ...(eci === undefined ? {} : { eci }),
    ...told,
  });
  const failed = (ids: AuthenticationIds) => refused(ids, RESPONSE_CODES.AUTHENTICATION_FAILED, ECI_FAILED);
  return {
    failed,
    attempted: (ids: AuthenticationIds) => refused(ids, RESPONSE_CODES.CARD_WITHOUT_3DS, eciOf(scheme, 'attempted')),
    cancelled: (ids: AuthenticationIds) => refused(ids, RESPONSE_CODES.CANCELLED_BY_CARDHOLDER),
    /** Not authenticated without the issuer's cryptogram, because the acquirer needs it. */
    authenticated: (ids: AuthenticationIds, authenticationValue: string | undefined): AuthenticationEvent => {
      if (authenticationValue === undefined) return failed(ids);
      return { type: 'Authenticated', ids, eci: eciOf(scheme, 'authenticated'), authenticationValue, ...told };
    },
  };
}
