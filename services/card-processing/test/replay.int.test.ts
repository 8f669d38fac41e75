import type { Account } from '@gateway/accounts';
import type { CardCommand, ThreedsEvent } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { bodyOf, clockAt, connectMongo, createHandle } from '@gateway/mongo';
import { noTracer } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { openSpace, silentLogger } from '@gateway/testing';
import type { CardData } from '@gateway/vault';
import type { PaymentsAdapter } from '../src/adapters/mongo/payments';
import { createPayments } from '../src/adapters/mongo/payments';
import { announce } from '../src/application/announcements';
import { announceOutcome } from '../src/application/announce-outcome';
import { endCheckout } from '../src/application/end-checkout';
import { expireAuthorization } from '../src/application/expire-authorization';
import type { AcquirerAnswer, AcquirerConnector, CountResult, Inquiry, Ports } from '../src/application/ports';
import { processAuthentication } from '../src/application/process-authentication';
import { processCommand } from '../src/application/process-command';
import { recordDeadLetter } from '../src/application/record-dead-letter';
import { resolveOutcome } from '../src/application/resolve-outcomes';
import type { Payment, PaymentEvent } from '../src/domain/payment';
import { evolve } from '../src/domain/payment';
import {
  authenticated,
  authenticationCommand,
  challenge,
  HOLD_SECONDS,
  NOW,
  PAYMENT_ID,
  purchaseCommand,
  ref,
  refund,
  settle,
  threedsEvent,
  tokenize,
  voidOf,
} from '../src/domain/payments.fixture';

/** Replaying the events of a payment always gives its document. */
const LONG = { days: 24_000, mayShorten: false };
const A_LIFETIME = { real: LONG, test: LONG };

let space: Space;
let mongo: MongoConnection;
let payments: PaymentsAdapter;
let now = NOW;

beforeAll(async () => {
  space = await openSpace('card-replay');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}cards` });
  payments = createPayments(
    mongo,
    clockAt(() => now),
  );
  // A fixed date, which gets older.
  await payments.ensureIndexes(A_LIFETIME);
});
beforeEach(async () => {
  now = NOW;
  await mongo.collection('payments').deleteMany({});
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const CARD = new Secret<CardData>({ pan: '4111111111111111', expMonth: '12', expYear: '2030', holder: 'Ann Lee' });
const TERMINAL = { currency: 'XTS', midReference: 'MD0000000000000A', midId: '1', name: 'T', lateVoid: false };
const ACCOUNT = {
  terminals: [{ ...TERMINAL, acquirer: 'simulator', active: true }],
  customParameters: ['custom_card_bin'],
  testCardRules: [{ kind: 'declines', by: 'ip', max: 3, windowSeconds: 3_600 }],
} as unknown as Account;
const APPROVED: AcquirerAnswer = { kind: 'approved', authcode: 'A1', bank: { transactionId: 'T1' } };
const UNKNOWN: AcquirerAnswer = { kind: 'unknown', code: 3109 };

/** Gives its answers in turn, and repeats the last one. */
const says = <T>(...answers: T[]) => {
  const left = [...answers];
  return () => Promise.resolve(left.length > 1 ? (left.shift() as T) : (left[0] as T));
};

function world(
  answers: AcquirerAnswer[] = [APPROVED],
  inquiries: Inquiry[] = [{ kind: 'unknown' }],
  counted: CountResult = { counted: true, slot: NOW },
) {
  const events = new Map<string, PaymentEvent[]>();
  const begun: Promise<void>[] = [];
  let ids = 0;
  const connector: AcquirerConnector = {
    name: 'simulator',
    longestCallMs: 1_000,
    callMs: 1_000,
    takes: () => true,
    placeForExpiry: () => ({ leave: () => undefined }),
    operate: says(...answers),
    inquire: says(...inquiries),
    cancel: says({ kind: 'cancelled' } as const),
    close: () => undefined,
  };
  const ports: Ports = {
    payments,
    handle: createHandle({
      store: payments,
      evolve,
      announce,
      publish: () => undefined,
      onWritten: (event, { _id }) => void events.set(_id, [...(events.get(_id) ?? []), event]),
      now: () => now,
      newId: () => `id-${(ids += 1)}`,
    }),
    cards: {
      getCard: async () => CARD,
      takeCvv: async () => new Secret('123'),
      dropCvv: async () => undefined,
      storageId: () => 'hash',
      tokensOf: () => [],
      countingHashes: [{ panHash: () => 'hash', fingerprint: () => 'a-counter' }],
    },
    accounts: { find: async () => ACCOUNT },
    counters: {
      count: async (_reference, counters) => counters.map(() => counted),
      takeBack: () => undefined,
      end: () => undefined,
      pay: () => undefined,
      payBack: () => undefined,
    },
    connector: () => connector,
    calls: { begin: async (work) => void begun.push(work()) },
    reply: async () => undefined,
    now: () => now,
    holdSeconds: HOLD_SECONDS,
    holds: [],
    recovery: { current: () => undefined, mayHaveBeenHandled: () => false },
    authenticationPatienceMs: 1_200_000,
    tracer: noTracer,
    logger: silentLogger,
  };
  return {
    run: async (command: CardCommand) => {
      await processCommand(ports, { command, id: 'm', correlationId: 'c', replyPartition: 1 });
      await Promise.all(begun);
    },
    hear: async (event: ThreedsEvent) => {
      await processAuthentication(ports, event, 'm');
      await Promise.all(begun);
    },
    resolve: async () => {
      const claimed = await payments.due.claimNow(PAYMENT_ID, 25_000);
      if (claimed === null) throw new Error('nothing is left to do');
      await resolveOutcome(ports, claimed);
    },
    expire: async () => {
      now += HOLD_SECONDS * 1_000;
      const ask = { paymentId: PAYMENT_ID, merchantAccount: 'merchant', reference: ref('AUTH'), expiresAt: now };
      await expireAuthorization(ports, ask, 'm');
      await Promise.all(begun);
    },
    announceEnd: (reference: string) =>
      announceOutcome(
        ports,
        { paymentId: PAYMENT_ID, reference, merchantAccount: 'merchant', callbackUrl: 'https://shop.test/callback' },
        'm',
      ),
    endCheckout: () => endCheckout(ports, { paymentId: PAYMENT_ID, merchantAccount: 'merchant' }, 'm'),
    deadLetter: (command: CardCommand) => recordDeadLetter(ports, command, undefined),
    /** Every document equals the replay of its events. */
    async check(): Promise<Payment[]> {
      const documents = await payments.loadWhole(PAYMENT_ID);
      const replayed = documents.map(({ _id }) => events.get(_id)?.reduce<Payment | undefined>(evolve, undefined));
      expect(documents.map(bodyOf)).toEqual(replayed);
      expect(documents).toHaveLength(events.size);
      return documents;
    },
  };
}
type World = ReturnType<typeof world>;

const sale = purchaseCommand('ChargeCard');
const auth = purchaseCommand('AuthorizeCard');
const auth3d = authenticationCommand('AuthenticateCard');
const sale3d = authenticationCommand('AuthenticateAndChargeCard');
const foreign = { ...settle(), data: { ...settle().data, merchantAccount: 'other' } } as CardCommand;
const attempt = purchaseCommand('ChargeCard', { checkoutAttempt: 1, callbackUrl: 'https://shop.test/callback' });

/** Commands of an hour ago are overdue. */
const later = async (): Promise<void> => void (now += 3_600_000);

const JOURNEYS: [string, () => World, ((world: World) => Promise<unknown>)[], object][] = [
  [
    'a SALE that is approved, repeated, and refunded',
    () => world(),
    [({ run }) => run(sale), ({ run }) => run(sale), ({ run }) => run(refund('SALE'))],
    { state: { kind: 'refunded' }, presentation: { last4: '1111', holder: 'Ann Lee' } },
  ],
  [
    'a SALE that is declined',
    () => world([{ kind: 'declined', code: 3101, bank: {} }]),
    [({ run }) => run(sale)],
    { state: { kind: 'closed' } },
  ],
  [
    'a SALE that a velocity rule declines, repeated',
    () => world([], [], { counted: false, used: { declines: 3, paid: 0, attempts: 0 } }),
    [({ run }) => run(sale), ({ run }) => run(sale)],
    { state: { kind: 'closed' }, operations: [{ code: 3200, refusedBy: { rule: 'declines by ip' } }] },
  ],
  [
    'a SALE that is unknown, asked about in vain, not found, and cancelled',
    () => world([UNKNOWN], [{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'not-found' }]),
    [({ run }) => run(sale), ({ resolve }) => resolve(), ({ resolve }) => resolve(), ({ resolve }) => resolve()],
    { state: { kind: 'closed' }, operations: [{ status: 'error', code: 3109 }] },
  ],
  [
    'an AUTH that is settled, with refusals in between',
    () => world(),
    [({ run }) => run(settle('NONE', {}, 'REF1')), ({ run }) => run(auth), ({ run }) => run(settle())],
    { state: { kind: 'charged' } },
  ],
  [
    'an AUTH whose hold ends, and whose VOID is unknown first',
    () => world([APPROVED, UNKNOWN], [APPROVED]),
    [({ run }) => run(auth), ({ expire }) => expire(), ({ resolve }) => resolve()],
    { state: { kind: 'voided' } },
  ],
  [
    'an AUTH3D with a challenge, then voided',
    () => world(),
    [
      ({ run }) => run(auth3d),
      ({ hear }) => hear(threedsEvent('ChallengeRequired', 'AU3D', challenge)),
      ({ hear }) => hear(threedsEvent('CardholderAuthenticated', 'AU3D', authenticated)),
      ({ run }) => run(voidOf('AU3D')),
    ],
    { state: { kind: 'voided' } },
  ],
  [
    'an AUTH3D that is voided in its challenge',
    () => world(),
    [
      ({ run }) => run(auth3d),
      ({ hear }) => hear(threedsEvent('ChallengeRequired', 'AU3D', challenge)),
      ({ run }) => run(voidOf('AU3D')),
    ],
    { state: { kind: 'voided' } },
  ],
  [
    'a SALE3D with a challenge, whose sale is unknown first, and announced',
    () => world([UNKNOWN], [APPROVED]),
    [
      ({ run }) => run(sale3d),
      ({ hear }) => hear(threedsEvent('ChallengeRequired', 'SA3D', challenge)),
      ({ announceEnd }) => announceEnd(ref('SA3D')),
      ({ hear }) => hear(threedsEvent('CardholderAuthenticated', 'SA3D', authenticated)),
      ({ resolve }) => resolve(),
    ],
    { state: { kind: 'charged' }, operations: [{ announced: true, status: 'success' }] },
  ],
  [
    'a SALE3D whose authentication never ends',
    () => world([], [{ kind: 'not-found' }]),
    [({ run }) => run(sale3d), ({ resolve }) => resolve()],
    { state: { kind: 'closed' }, operations: [{ code: 3024 }] },
  ],
  [
    'a SALE that was charged, delivered again long after its deadline to a database without it',
    () => world([], [{ kind: 'unknown' }, APPROVED]),
    [later, ({ run }) => run(sale), ({ run }) => run(sale), ({ resolve }) => resolve(), ({ resolve }) => resolve()],
    { state: { kind: 'charged' }, operations: [{ status: 'success', code: 0 }] },
  ],
  [
    'a SALE that was not charged, delivered long after its deadline',
    () => world([], [{ kind: 'not-found' }]),
    [later, ({ run }) => run(sale), ({ resolve }) => resolve()],
    { state: { kind: 'closed' }, operations: [{ status: 'error', code: 11 }] },
  ],
  [
    'an AUTH and its SETTLE, both long after their deadlines, the SETTLE first',
    () => world([], [APPROVED]),
    [
      later,
      ({ run }) => run(settle()),
      ({ run }) => run(foreign),
      ({ resolve }) => resolve(),
      ({ run }) => run(auth),
      ({ resolve }) => resolve(),
      ({ resolve }) => resolve(),
    ],
    { state: { kind: 'charged' } },
  ],
  [
    'a SALE3D whose authentication is delivered long after it happened',
    () => world([], [APPROVED]),
    [
      ({ run }) => run(sale3d),
      later,
      ({ hear }) => hear(threedsEvent('CardholderAuthenticated', 'SA3D', authenticated)),
      ({ resolve }) => resolve(),
    ],
    { state: { kind: 'charged' }, operations: [{ status: 'success', code: 0 }] },
  ],
  [
    'a card-entry page with one attempt',
    () => world([{ kind: 'declined', code: 3101, bank: {} }]),
    [({ run }) => run(attempt), ({ endCheckout: end }) => end()],
    { checkoutEnded: true },
  ],
  ['a token', () => world(), [({ run }) => run(tokenize)], { state: { kind: 'tokenized' } }],
  [
    'a dead letter, and a refusal with its own document',
    () => world(),
    [
      ({ deadLetter }) => deadLetter(sale),
      ({ deadLetter }) => deadLetter(sale),
      ({ run }) => run(foreign),
      ({ run }) => run(foreign),
    ],
    { operations: [{ code: 3000 }] },
  ],
];

test.each(JOURNEYS)('%s', async (_name, open, steps, end) => {
  const here = open();
  let payment: Payment | undefined;
  for (const step of steps) {
    now += 1_000;
    await step(here);
    [payment] = await here.check();
  }
  expect(payment).toMatchObject(end);
  for (const leftover of ['pending', 'resolveAt', 'inquiries', 'awaiting'])
    expect(payment).not.toHaveProperty(leftover);
});

test('a document of the previous release is read and resolved', async () => {
  const [operation] = (await startedSale()).operations;
  await mongo.collection('payments').insertOne({
    _id: PAYMENT_ID,
    merchantAccount: 'merchant',
    state: { kind: 'charging' },
    operations: [{ ...operation, code: 3109, message: 'Bank timeout' }],
    pending: { reference: ref('SALE'), kind: 'sale' },
    route: { acquirer: 'simulator', midReference: 'MD0000000000000A', lateVoid: false },
    cardBrand: 'Visa',
    resolveAt: now,
    inquiries: 2,
    version: 4,
    eventSeq: 2,
    outbox: [],
    stamp: 'writer/1',
  } as never);
  const { resolve } = world([], [{ kind: 'unknown' }, APPROVED]);
  await resolve();
  expect(await payments.load(PAYMENT_ID)).toMatchObject({ inquiries: 3, resolveAt: now + 4_000, version: 5 });
  await resolve();
  const ended = await payments.load(PAYMENT_ID);
  expect(ended).toMatchObject({ state: { kind: 'charged' }, operations: [{ status: 'success', code: 0 }] });
  for (const leftover of ['pending', 'resolveAt', 'inquiries']) expect(ended).not.toHaveProperty(leftover);
});

async function startedSale(): Promise<Payment> {
  const { run } = world([UNKNOWN]);
  await run(sale);
  const payment = await payments.load(PAYMENT_ID);
  await mongo.collection('payments').deleteMany({});
  if (payment === null) throw new Error('not on record');
  return payment;
}
