import type { AuthenticateCardholderData } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { bodyOf, clockAt, connectMongo, createHandle } from '@gateway/mongo';
import { noTracer } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { openSpace, silentLogger } from '@gateway/testing';
import type { AuthenticationsAdapter } from '../src/adapters/mongo/authentications';
import { createAuthentications } from '../src/adapters/mongo/authentications';
import { announcer } from '../src/application/announcements';
import { ask, authenticateCardholder } from '../src/application/authenticate-cardholder';
import { openPage } from '../src/application/browser';
import { expireChallenges } from '../src/application/expire-challenges';
import type { Ports } from '../src/application/ports';
import { createProofs } from '../src/application/proofs';
import { recordDeadLetter } from '../src/application/record-dead-letter';
import { takeResult } from '../src/application/take-result';
import type { Authentication, AuthenticationEvent, State } from '../src/domain/authentication';
import { evolve } from '../src/domain/authentication';
import type { DirectoryAnswer } from '../src/domain/decide';

/** Replaying an authentication's events gives its document, after any journey. */
let space: Space;
let mongo: MongoConnection;
let authentications: AuthenticationsAdapter;
let now = 1_800_000_000_000;

beforeAll(async () => {
  space = await openSpace('threeds-replay');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}threeds` });
  authentications = createAuthentications(
    mongo,
    clockAt(() => now),
  );
  await authentications.ensureIndexes();
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const CHALLENGE_MS = 900_000;
const TERM_URL = 'https://shop.example/term';
const CARD = new Secret({ pan: '4012000300001003', expMonth: '12', expYear: '2030', holder: 'Ann Lee' });
const IDS = { dsTransId: 'ds', acsTransId: 'acs' };
const YES: DirectoryAnswer = { kind: 'answered', transStatus: 'Y', ...IDS, authenticationValue: 'value' };
const CHALLENGE: DirectoryAnswer = { kind: 'answered', transStatus: 'C', ...IDS, acsUrl: 'https://acs.example/' };

let made = 0;
function world(answer: DirectoryAnswer | 'none', { card = true } = {}) {
  made += 1;
  const reference = `REPLAY0000000${String(made).padStart(7, '0')}`;
  const events: AuthenticationEvent[] = [];
  const begun: Promise<void>[] = [];
  const proofs = createProofs([new Secret(Buffer.alloc(48))]);
  const publicUrl = 'https://threeds.example';
  let ids = 0;
  const newId = () => `${reference}-${(ids += 1)}`;
  let isAnswering = answer !== 'none';
  const ports: Ports = {
    authentications,
    handle: createHandle({
      store: authentications,
      evolve,
      announce: announcer({ proofs, publicUrl }),
      publish: () => undefined,
      onWritten: (event) => events.push(event),
      now: () => now,
      newId,
    }),
    cards: { getCard: async () => (card ? CARD : undefined) },
    accounts: { find: async () => ({ returnHosts: ['shop.example'] }) },
    directory: { longestCallMs: 1_000, prepare: () => async () => (answer === 'none' ? YES : answer) },
    calls: { begin: async (work) => void (isAnswering && begun.push(work())) },
    proofs,
    newPageId: newId,
    newId,
    now: () => now,
    publicUrl,
    challengeTimeoutMs: CHALLENGE_MS,
    tracer: noTracer,
    logger: silentLogger,
  };
  const data: AuthenticateCardholderData = {
    paymentId: reference.slice(0, 16),
    reference,
    merchantAccount: 'merchant',
    transactionType: 'AUTH3D',
    transactionUniqueId: 'order-1',
    amountE4: 100,
    currency: 'XTS',
    token: '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab',
    midReference: 'MD0000000000000A',
    customer: { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email: 'ann@example.com', ip: '192.0.2.1' },
    acceptedAt: now,
    deadline: now + 30_000,
  };
  const read = async () => {
    const document = await authentications.load(reference);
    if (document === null) throw new Error('not stored');
    return document;
  };
  return {
    run: async () => {
      await authenticateCardholder(ports, { data, id: 'm', correlationId: 'c' });
      await Promise.all(begun);
    },
    askAgain: async () => {
      isAnswering = true;
      const claimed = await authentications.due.claimNow(reference, 1_000);
      if (claimed?.command === undefined) throw new Error('nothing is left to do');
      await ask(ports, claimed, claimed.command);
      await Promise.all(begun);
    },
    open: async () => {
      const form = { pareq: proofs.pareq({ reference }), termUrl: TERM_URL, md: reference };
      return openPage(ports, (await read()).pageId, form);
    },
    hear: async () => {
      const { threeDSServerTransId } = (await read()).ids;
      const result = { transStatus: 'Y', authenticationValue: 'value' } as const;
      return takeResult(ports, { threeDSServerTransId, ...IDS, result });
    },
    expire: () => expireChallenges(ports, () => false),
    deadLetter: () => recordDeadLetter(ports, data, { correlationId: 'c', causationId: 'm' }),
    stored: async () => bodyOf(await read()),
    replayed: () => events.reduce<Authentication | undefined>(evolve, undefined),
  };
}
type World = ReturnType<typeof world>;

const pass = (ms: number) => async (): Promise<void> => void (now += ms);

const JOURNEYS: [string, State['kind'], () => World, ((world: World) => Promise<unknown>)[]][] = [
  ['authenticated at once, and repeated', 'authenticated', () => world(YES), [({ run }) => run(), ({ run }) => run()]],
  [
    'authenticated by a challenge, with a return address',
    'authenticated',
    () => world(CHALLENGE),
    [({ run }) => run(), ({ open }) => open(), ({ hear }) => hear(), ({ hear }) => hear()],
  ],
  [
    'a challenge that runs out of time',
    'refused',
    () => world(CHALLENGE),
    [({ run }) => run(), pass(CHALLENGE_MS), ({ expire }) => expire()],
  ],
  ['a card that the vault does not know', 'refused', () => world(YES, { card: false }), [({ run }) => run()]],
  [
    'a process that died, and another that asks again',
    'authenticated',
    () => world('none'),
    [({ run }) => run(), ({ askAgain }) => askAgain()],
  ],
  [
    'a process that died, until the deadline',
    'refused',
    () => world('none'),
    [({ run }) => run(), pass(30_001), ({ askAgain }) => askAgain()],
  ],
  ['a dead letter', 'refused', () => world(YES), [({ deadLetter }) => deadLetter(), ({ run }) => run()]],
];

test.each(JOURNEYS)('%s', async (_name, end, open, steps) => {
  const here = open();
  for (const step of steps) {
    await step(here);
    expect(await here.stored()).toEqual(here.replayed());
  }
  const stored = await here.stored();
  expect(stored).toMatchObject({ state: { kind: end } });
  for (const leftover of ['command', 'resolveAt']) expect(stored).not.toHaveProperty(leftover);
});
