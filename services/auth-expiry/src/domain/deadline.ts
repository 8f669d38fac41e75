/** When the hold of an open authorization ends, and how often card-processing was asked to announce that, or to void it. */
export interface Deadline {
  /** Of the AUTH. */
  readonly reference: string;
  readonly merchantAccount: string;
  /** Epoch ms: from then on it cannot be settled. */
  readonly expiresAt: number;
  /** Without an answer so far. */
  readonly asks: number;
}

const ASK_AGAIN_FIRST_MS = 60_000;
const ASK_AGAIN_MAX_MS = 6 * 3_600_000;

/** The next ask for a deadline. */
export interface NextAsk {
  readonly asks: number;
  /** Epoch ms. */
  readonly dueAt: number;
}

/**
 * When to ask again if no event has answered by then: after a minute, doubling up to six hours. Asks are bounded in rate,
 * not in number: giving up would leave a cardholder's money held (architecture.md, invariant 5). Asks for the callback
 * before the end of a hold stop there, and those for its end begin.
 *
 * @param now epoch ms of the latest ask
 */
export function nextAsk({ asks, expiresAt }: Pick<Deadline, 'asks' | 'expiresAt'>, now: number): NextAsk {
  const dueAt = now + Math.min(ASK_AGAIN_FIRST_MS * 2 ** asks, ASK_AGAIN_MAX_MS);
  return now < expiresAt && dueAt >= expiresAt ? { asks: 0, dueAt: expiresAt } : { asks: asks + 1, dueAt };
}
