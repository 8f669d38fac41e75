import type { CommandQueue } from './ports';

/** Seconds of card-processing's work that may wait: merchants' commands wait behind it. */
const WAITING_SECONDS = 2;
/** Minimum that may wait, however slow it is: enough to measure its pace. */
const WAITING_MIN = 250;
/** Long enough for several of its commits. */
const WINDOW_MS = 4_000;

/**
 * Number of commands that card-processing has room for now. Its pace is measured, because it depends on its replicas
 * and on the acquirers. The queue is shared with merchants.
 *
 * @param look reads its queue; its errors are passed on
 * @param now epoch ms
 */
export function createRoom(look: () => Promise<CommandQueue>, now: () => number): () => Promise<number> {
  let looks: { at: number; done: number }[] = [];
  return async () => {
    const { done, waiting } = await look();
    const at = now();
    looks = looks.filter((earlier) => at - earlier.at <= WINDOW_MS);
    const [first] = looks;
    looks.push({ at, done });
    const perSecond = first === undefined || at <= first.at ? 0 : ((done - first.done) * 1000) / (at - first.at);
    return Math.floor(Math.max(perSecond * WAITING_SECONDS, WAITING_MIN) - waiting);
  };
}
