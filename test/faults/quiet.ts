import type { Space } from '@gateway/testing';
import { until } from '@gateway/testing';
import type { Storage } from '../support/storage';
import { nothingIsLeftBehind } from './checks/leftovers';
import { fetchLags } from './collect';
import type { StoredDocument } from './model/evidence';
import { NO_EVIDENCE } from './model/evidence';
import type { World } from './world/world';

const LOOK_EVERY_MS = 1_000;

/** Open work in the stores and unread messages in the topics. */
export async function openWork(space: Space, storage: Storage): Promise<string[]> {
  const documents = (await storage.everything()) as Map<string, StoredDocument[]>;
  return nothingIsLeftBehind({
    ...NO_EVIDENCE,
    documents,
    lags: await fetchLags(space),
    collectedAt: Date.now(),
  });
}

/**
 * Waits until no work is open, at most `patienceMs`; the checks report what is open then. Resolves with the time it took.
 */
export async function untilQuiet(world: World, storage: Storage, patienceMs: number): Promise<number> {
  const began = Date.now();
  await Promise.all(world.all().map((replica) => replica.untilReady()));
  let lookAt = 0;
  const look = async (): Promise<boolean> => {
    if (Date.now() < lookAt) return false;
    // A server that has just come back may not answer yet.
    const left = await openWork(world.space, storage).catch(() => undefined);
    lookAt = Date.now() + LOOK_EVERY_MS;
    return left?.length === 0;
  };
  await until('all work to end', look, patienceMs).catch(() => undefined);
  return Date.now() - began;
}
