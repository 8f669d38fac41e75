import { createHandle } from '@gateway/mongo';
import { memoryStore } from '@gateway/testing';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import { evolve } from '../domain/authentication';
import { openPage, PAGE_KNOWN_MS } from './browser';
import type { Ports, StoredAuthentication } from './ports';

const ENDED = {
  reference: 'PAYMENT000000001AU3D',
  merchantAccount: 'merchant',
  transactionType: 'AUTH3D',
  returnUrl: 'https://shop.example/term',
  redirectUrl: 'https://shop.example/term',
  ids: { threeDSServerTransId: 'tds-1' },
  deadline: 30_000,
  state: { kind: 'refused', challenged: true, code: 3103 },
} as unknown as Authentication;

/** An ended AUTH3D whose outcome leaves the outbox after so many reads. */
function ports(looksUntilPublished: number, now = 0) {
  let looks = 0;
  const stored = (): StoredAuthentication =>
    ({ ...ENDED, outbox: looks < looksUntilPublished ? [{ id: 'event' }] : [] }) as unknown as StoredAuthentication;
  const authentications = {
    findByPage: async () => stored(),
    load: async () => {
      looks += 1;
      return stored();
    },
  };
  const proofs = { isPareq: () => true, pares: () => 'proof' };
  const accounts = { find: async () => undefined };
  const handle = createHandle<Authentication, AuthenticationEvent>({
    store: { ...memoryStore<Authentication>(), load: authentications.load },
    evolve,
    announce: () => undefined,
    publish: () => undefined,
    now: () => 0,
    newId: () => 'id',
  });
  return { of: { authentications, handle, proofs, accounts, now: () => now } as unknown as Ports, looks: () => looks };
}

const form = { pareq: 'pareq', termUrl: 'https://shop.example/term', md: ENDED.reference };

/** Storing the return address takes a read of its own. */
const OTHER_LOOKS = 1;

test.each([
  [0, 1],
  [3, 2],
])(
  'a proof whose outcome is published after %i looks is handed out after %i more',
  async (looksUntilPublished, more) => {
    const { of, looks } = ports(looksUntilPublished);
    expect(await openPage(of, 'page', form)).toMatchObject({ kind: 'return', pares: 'proof' });
    expect(looks()).toBe(OTHER_LOOKS + more);
  },
);

test('a page leads on for a day, and is unknown afterwards', async () => {
  const end = ENDED.deadline + PAGE_KNOWN_MS;
  expect(await openPage(ports(0, end - 1).of, 'page', form)).toMatchObject({ kind: 'return' });
  expect(await openPage(ports(0, end).of, 'page', form)).toEqual({ kind: 'problem', problem: 'unknown-page' });
});

test('a proof is handed out even if its outcome is not published', async () => {
  const { of } = ports(Infinity);
  expect(await openPage(of, 'page', form)).toMatchObject({ kind: 'return', pares: 'proof' });
});
