import type { CommandQueue } from './ports';

/** So many seconds' worth of what card-processing gets done may wait for it: merchants' commands wait behind them. */
const WAITING_SECONDS = 2;
/** So many may wait however slow it is: enough to find out how fast it can be. */
const WAITING_MIN = 250;
/** Long enough for several of its commits. */
const WINDOW_MS = 4_000;

/**
 * How many commands card-processing has room for now. Its pace is measured, since it depends on its replicas and on how
 * fast acquirers answer; what waits there is everybody's.
 *
 * @param look at its queue; what this throws is thrown on
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
