import type { OperationOutcome } from '@gateway/contracts';
import { CHECKOUT_ATTEMPTS_MAX, RESPONSE_CODES } from '@gateway/contracts';

/** One attempt of the cardholder: an operation of its own, as its owner reports it. */
export interface Attempt {
  /** 1 to {@link CHECKOUT_ATTEMPTS_MAX}. */
  readonly n: number;
  readonly reference: string;
  /** Undefined until the owner has recorded it. */
  readonly outcome: OperationOutcome | undefined;
}

/** State of a card-entry page. */
export type Situation =
  /** The cardholder may enter a card, as attempt number `attempt`. `declined`: the previous one was. */
  | {
      readonly kind: 'form';
      readonly attempt: number;
      readonly attemptsLeft: number;
      readonly declined: boolean;
      /** The cardholder's bank could not confirm who paid. */
      readonly unauthenticated?: true;
    }
  /** An attempt is under way, or its outcome is unknown. `acsUrl`: the cardholder may be at the issuer's page. */
  | { readonly kind: 'waiting'; readonly attempt: Attempt; readonly acsUrl?: string }
  /** No further attempt is possible; `attempt` is the deciding one. */
  | { readonly kind: 'finished'; readonly attempt: Attempt; readonly succeeded: boolean }
  /** The time ended without an attempt. */
  | { readonly kind: 'expired' };

/**
 * decisions.md, section 5: up to three attempts on a decline, one success at most; an unknown outcome locks the page.
 * Attempts are in order. A success decides, else an open outcome, whatever was refused beside it.
 */
export function situationOf(attempts: readonly Attempt[], timeIsOver: boolean): Situation {
  const succeeded = attempts.find(({ outcome }) => outcome?.status === 'success');
  if (succeeded !== undefined) return { kind: 'finished', attempt: succeeded, succeeded: true };
  const open = attempts.find(({ outcome }) => outcome === undefined || outcome.status === 'pending');
  if (open !== undefined) return waiting(open);
  const last = attempts.at(-1);
  if (timeIsOver || attempts.length >= CHECKOUT_ATTEMPTS_MAX) {
    return last === undefined ? { kind: 'expired' } : { kind: 'finished', attempt: last, succeeded: false };
  }
  const attempt = attempts.length + 1;
  const attemptsLeft = CHECKOUT_ATTEMPTS_MAX - attempts.length;
  const isUnauthenticated = last?.outcome?.code === RESPONSE_CODES.AUTHENTICATION_FAILED;
  const reason = isUnauthenticated ? ({ unauthenticated: true } as const) : {};
  return { kind: 'form', attempt, attemptsLeft, declined: last !== undefined, ...reason };
}

function waiting(attempt: Attempt): Situation {
  const { outcome } = attempt;
  // An ECI in the first answer: the issuer requested no challenge, so there is nothing to do at its page.
  const acsUrl = outcome?.eci === undefined ? outcome?.acsUrl : undefined;
  return { kind: 'waiting', attempt, ...(acsUrl === undefined ? {} : { acsUrl }) };
}
