/** When the hold of an open authorization ends, and how often card-processing was asked to announce that, or to void it. */
export interface Deadline {
  /** Of the AUTH. */
  readonly reference: string;
  readonly merchantAccount: string;
  /** In the test currency: no cardholder has this hold. */
  readonly isTest?: boolean;
  /** Epoch ms: from then on it cannot be settled. */
  readonly expiresAt: number;
  /** Without an answer so far. */
  readonly asks: number;
}

const ASK_AGAIN_FIRST_MS = 60_000;
/** A pause is about a tenth of the time since the first ask, so a hold ends little later than it could. */
const ASK_AGAIN_GROWTH = 1.1;
/** Short beside the six hours between two VOIDs that the bank declines. */
const ASK_AGAIN_MAX_MS = 3_600_000;

/** The next ask for a deadline. */
export interface NextAsk {
  readonly asks: number;
  /** Epoch ms. */
  readonly dueAt: number;
}

/**
 * When to ask again if no event has answered by then. The first pause is a minute, and each is a tenth longer than the one
 * before, up to an hour; a random part up to doubles it. When many holds end together, most asks find no free place among
 * the acquirer's calls. The random part spreads their next ones evenly, so that places do not stand idle between rounds.
 * Asks are bounded in rate, not in number: giving up would leave a cardholder's money held (architecture.md, invariant 5).
 * Asks for the callback before the end of a hold stop there, and those for its end begin.
 *
 * @param asked.now epoch ms of the latest ask
 * @param asked.random from 0 up to 1
 */
export function nextAsk(
  { asks, expiresAt }: Pick<Deadline, 'asks' | 'expiresAt'>,
  { now, random }: { now: number; random: number },
): NextAsk {
  const pauseMs = Math.min(ASK_AGAIN_FIRST_MS * ASK_AGAIN_GROWTH ** asks, ASK_AGAIN_MAX_MS);
  const dueAt = now + Math.round(pauseMs * (1 + random));
  return now < expiresAt && dueAt >= expiresAt ? { asks: 0, dueAt: expiresAt } : { asks: asks + 1, dueAt };
}
