import type { OperationOutcome } from '@gateway/contracts';
import { CHECKOUT_ATTEMPTS_MAX } from '@gateway/contracts';

/** One try of the cardholder: an operation of its own, as its owner tells it. */
export interface Attempt {
  /** 1 to {@link CHECKOUT_ATTEMPTS_MAX}. */
  readonly n: number;
  readonly reference: string;
  /** Undefined as long as the owner has nothing on record: it is on its way there. */
  readonly outcome: OperationOutcome | undefined;
}

/** How a card-entry page stands. */
export type Situation =
  /** The cardholder may type a card: for attempt `attempt`, after a decline of the one before if that is true. */
  | { readonly kind: 'form'; readonly attempt: number; readonly attemptsLeft: number; readonly declined: boolean }
  /** An attempt is under way, or nobody knows what came of it. `acsUrl`: its cardholder may be at the issuer's. */
  | { readonly kind: 'waiting'; readonly attempt: Attempt; readonly acsUrl?: string }
  /** Nothing can be done here any more; `attempt` is the one that decided. */
  | { readonly kind: 'finished'; readonly attempt: Attempt; readonly succeeded: boolean }
  /** The time was over before anything was tried. */
  | { readonly kind: 'expired' };

/**
 * decisions.md, section 5: up to three attempts on a decline, one success at most; an unknown outcome locks the page.
 * Attempts come in their order. Whatever was refused beside it, a success decides, and then an open outcome does.
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
  return { kind: 'form', attempt, attemptsLeft, declined: last !== undefined };
}

function waiting(attempt: Attempt): Situation {
  const { outcome } = attempt;
  // An ECI in the first answer: the issuer did not ask for a challenge, so there is nothing to do at its page.
  const acsUrl = outcome?.eci === undefined ? outcome?.acsUrl : undefined;
  return { kind: 'waiting', attempt, ...(acsUrl === undefined ? {} : { acsUrl }) };
}
