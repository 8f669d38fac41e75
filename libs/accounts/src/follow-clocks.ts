import type { SandboxClock } from '@gateway/contracts';
import type { Logger, Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';
import type { ClockFollower, FollowedClock, SandboxClocks } from './sandbox-clocks';
import { CLOCK_MARGIN_MS } from './sandbox-clocks';

const FOLLOW_EVERY_MS = 250;
/** Adjusted together. */
const BATCH = 100;
/** Of one account in one look, so that no account keeps the others waiting. */
const BATCHES_MAX = 10;
/** The first pause before looking for latecomers; it grows with the age of the move. */
const LOOK_AGAIN_MIN_MS = 1_000;
const LOOK_AGAIN_SHARE = 0.5;

/** One kind of thing that waits for a time. */
export interface WaitingKind<T> {
  /** Things of the account that have not followed its clock yet: `clockMs` is absent or another. */
  behind(clock: SandboxClock, limit: number): Promise<T[]>;
  /** Lets one follow. False if it cannot yet: it is found again. Any replica may do it at the same time. */
  follow(thing: T, clock: SandboxClock): Promise<boolean>;
}

/**
 * Lets a service follow the clocks of sandbox accounts, as periodic work. After a move it adjusts everything that waits for
 * a time, then reports that it has followed. It keeps looking for a day, less and less often, because a message from before
 * the move may still be on its way. Any replica may run it.
 */
export function createClockFollower(options: {
  clocks: Pick<SandboxClocks, 'recent' | 'followed'>;
  service: ClockFollower;
  kinds: readonly WaitingKind<unknown>[];
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
}): Repeating {
  const { clocks, service, kinds, now, logger } = options;
  /** Epoch ms of the last look at an account; only accounts that moved lately. */
  let looks = new Map<string, number>();

  function isDue({ merchantAccount, followed, aheadMs, moves }: FollowedClock): boolean {
    const movedAt = moves.at(-1)?.at ?? 0;
    if (now() < movedAt + CLOCK_MARGIN_MS) return false;
    const last = looks.get(merchantAccount);
    if (last === undefined || (followed[service] ?? 0) < aheadMs) return true;
    return now() - last >= Math.max(LOOK_AGAIN_MIN_MS, (last - movedAt) * LOOK_AGAIN_SHARE);
  }

  async function look(clock: FollowedClock): Promise<void> {
    const { merchantAccount, aheadMs } = clock;
    let isDone = true;
    for (const kind of kinds) isDone = (await followAll(kind, clock)) && isDone;
    looks.set(merchantAccount, now());
    if (isDone && (clock.followed[service] ?? 0) < aheadMs) await clocks.followed(merchantAccount, service, aheadMs);
  }

  async function follow(): Promise<void> {
    const recent = await clocks.recent();
    looks = new Map(
      recent.flatMap(({ merchantAccount }) => {
        const last = looks.get(merchantAccount);
        return last === undefined ? [] : [[merchantAccount, last] as const];
      }),
    );
    for (const clock of recent.filter(isDue)) {
      await look(clock).catch((error: unknown) =>
        logger.warn('something does not follow the clock of its account yet', {
          merchantAccount: clock.merchantAccount,
          error,
        }),
      );
    }
  }

  return repeat({ name: 'following the clocks of sandbox accounts', everyMs: FOLLOW_EVERY_MS, work: follow, logger });
}

/** True once nothing is behind any more. */
async function followAll<T>(kind: WaitingKind<T>, clock: SandboxClock): Promise<boolean> {
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const found = await kind.behind(clock, BATCH);
    const followed = await Promise.all(found.map((thing) => kind.follow(thing, clock)));
    if (followed.includes(false)) return false;
    if (found.length < BATCH) return true;
  }
  return false;
}
