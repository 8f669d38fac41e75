import { createHandle } from '@gateway/mongo';
import { memoryStore } from '@gateway/testing';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import { evolve } from '../domain/authentication';
import { expireChallenges } from './expire-challenges';
import type { Ports, StoredAuthentication } from './ports';

const NOW = 1_000_000;
const BATCH = 100;
const RUN_MAX = 5_000;

/** Expired challenges, and one that is not. */
function world(expired: number) {
  const store = memoryStore<Authentication>();
  const stored = store.documents;
  for (let index = 0; index <= expired; index += 1) {
    const reference = `PAYMENT${index}`;
    const state = { kind: 'challenge', expiresAt: index < expired ? NOW - index : NOW + 1 };
    const authentication = { _id: reference, reference, transactionType: 'SALE3D', ids: {}, state, outbox: [] };
    stored.set(reference, authentication as unknown as StoredAuthentication);
  }
  const isOpen = ({ state }: StoredAuthentication): boolean => state.kind === 'challenge' && state.expiresAt <= NOW;
  const open = (): StoredAuthentication[] => [...stored.values()].filter(isOpen);
  let looks = 0;
  const authentications: Partial<Ports['authentications']> = {
    async findExpired(_now, limit) {
      looks += 1;
      return open().slice(0, limit);
    },
  };
  const handle = createHandle<Authentication, AuthenticationEvent>({
    store,
    evolve,
    announce: () => undefined,
    publish: () => undefined,
    now: () => NOW,
    newId: () => 'id',
  });
  const ports = { authentications, handle, now: () => NOW };
  return { ports: ports as unknown as Ports, open: () => open().length, looks: () => looks };
}

const goOn = (): boolean => false;

test.each([0, 1, 99, 100, 250])('one run ends %i expired challenges', async (expired) => {
  const { ports, open } = world(expired);
  expect(await expireChallenges(ports, goOn)).toBe(expired);
  expect(open()).toBe(0);
});

test('a run has a time limit; the next one ends the rest', async () => {
  const { ports, open } = world(RUN_MAX + 1);
  expect(await expireChallenges(ports, goOn)).toBe(RUN_MAX);
  expect(open()).toBe(1);
  expect(await expireChallenges(ports, goOn)).toBe(1);
});

test('a run begins no more batches when the service stops', async () => {
  const { ports, looks } = world(3 * BATCH);
  expect(await expireChallenges(ports, () => looks() > 0)).toBe(BATCH);
  expect(looks()).toBe(1);
});
