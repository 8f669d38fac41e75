import { Secret } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { bodyOf, clockAt, connectMongo, createHandle } from '@gateway/mongo';
import { createFairSlots, noTracer } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { openSpace, silentLogger } from '@gateway/testing';
import { createAttempts } from '../src/adapters/mongo/attempts';
import type { DeliveriesAdapter } from '../src/adapters/mongo/deliveries';
import { createDeliveries } from '../src/adapters/mongo/deliveries';
import { createFeed } from '../src/adapters/mongo/feed';
import { createIncompletes } from '../src/adapters/mongo/incompletes';
import { acceptOutcome } from '../src/application/accept-outcome';
import { announce } from '../src/application/announcements';
import { attemptDelivery } from '../src/application/attempt-delivery';
import type { Dispatcher } from '../src/application/dispatcher';
import { attemptsOf } from '../src/application/first-attempt';
import { handBack } from '../src/application/hand-back';
import { resendDelivery } from '../src/application/manage-deliveries';
import { createOwnerGate } from '../src/application/owner-gate';
import type { Ports } from '../src/application/ports';
import type { AttemptResult, Delivery, DeliveryEvent, DeliveryState } from '../src/domain/delivery';
import { evolve } from '../src/domain/delivery';

/** Replaying a delivery's events gives its document, after any journey. */
let space: Space;
let mongo: MongoConnection;
let deliveries: DeliveriesAdapter;
const LEASE_MS = 60_000;
const START = 1_800_000_000_000;
let passedMs = 0;
const now = (): number => START + passedMs;

beforeAll(async () => {
  space = await openSpace('callback-replay');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}callbacks` });
  deliveries = createDeliveries(mongo, clockAt(now));
  await deliveries.ensureIndexes();
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const OK: AttemptResult = { httpStatus: 200, body: 'OK', durationMs: 1 };
const REFUSED: AttemptResult = { error: 'ECONNREFUSED', durationMs: 1 };

beforeEach(() => {
  passedMs = 0;
});

const gate = createOwnerGate({ slots: createFairSlots({ max: 1, maxWaiting: 0, waitTimeoutMs: 0 }), now: Date.now });

let made = 0;
function world() {
  const id = `event-${(made += 1)}`;
  const events: DeliveryEvent[] = [];
  let result = OK;
  let ids = 0;
  const ports: Ports = {
    deliveries,
    incompletes: createIncompletes(mongo, clockAt(now)),
    handle: createHandle({
      store: deliveries,
      evolve,
      announce,
      publish: () => undefined,
      onWritten: (event) => events.push(event),
      now,
      newId: () => `${id}-${(ids += 1)}`,
    }),
    attempts: createAttempts(mongo),
    feed: createFeed(mongo, { now }),
    merchants: {
      find: async () => ({
        isSandbox: false,
        customParameters: [],
        secret: async () => new Secret('secret'),
        webhookSecrets: async () => [],
      }),
      clockAheadMs: async () => 0,
    },
    customValues: async () => undefined,
    ownerGates: { card: gate, payout: gate },
    post: async () => result,
    figures: { attempted: () => undefined, ended: () => undefined },
    scheduleSeconds: [0],
    now,
    newId: () => `${id}-${(ids += 1)}`,
    random: () => 0,
    tracer: noTracer,
    logger: silentLogger,
  };
  const dispatcher = {
    reserve: () => true,
    giveBack: () => undefined,
    submit: () => undefined,
  } as unknown as Dispatcher;
  const claimed = async () => {
    const [delivery] = await deliveries.claim([id], LEASE_MS);
    if (delivery === undefined) throw new Error('not due');
    return delivery;
  };
  const read = async () => {
    const delivery = await deliveries.load(id);
    if (delivery === null) throw new Error('not stored');
    return delivery;
  };
  return {
    accept: () =>
      acceptOutcome(ports, dispatcher, id, {
        kind: 'card',
        paymentId: '0123456789ABCDEF',
        reference: '0123456789ABCDEF0001',
        merchantAccount: 'merchant',
        transactionUniqueId: 'order-1',
        status: 'success',
        code: 0,
        message: 'done',
        callbackUrl: 'https://shop.example/done',
      }),
    attempt: async (next: AttemptResult) => {
      result = next;
      await attemptDelivery(ports, await read());
    },
    attemptAgain: async (next: AttemptResult) => {
      result = next;
      await attemptDelivery(ports, await claimed());
    },
    handBack: async () => handBack(ports, await read()),
    resend: () => resendDelivery(ports, id, 'an operator'),
    recorded: async () => attemptsOf(ports, await read()),
    async stored() {
      const body = bodyOf(await read());
      return body;
    },
    replayed: () => events.reduce<Delivery | undefined>(evolve, undefined),
  };
}
type World = ReturnType<typeof world>;

const JOURNEYS: [string, DeliveryState, attempts: number, ((world: World) => Promise<unknown>)[]][] = [
  ['delivered, and the event comes again', 'delivered', 1, [({ attempt }) => attempt(OK), ({ accept }) => accept()]],
  [
    'handed back, then refused, then delivered',
    'delivered',
    2,
    [
      ({ handBack: back }) => back(),
      ({ attemptAgain }) => attemptAgain(REFUSED),
      ({ attemptAgain }) => attemptAgain(OK),
    ],
  ],
  [
    'held too long for an attempt, then delivered',
    'delivered',
    1,
    [
      ({ attempt }) => {
        passedMs = LEASE_MS - 20_000;
        return attempt(OK);
      },
      ({ attemptAgain }) => attemptAgain(OK),
    ],
  ],
  [
    'exhausted, sent again, and recovered',
    'delivered',
    3,
    [
      ({ attempt }) => attempt(REFUSED),
      ({ attemptAgain }) => attemptAgain(REFUSED),
      ({ resend }) => resend(),
      ({ attemptAgain }) => attemptAgain(OK),
    ],
  ],
  ['exhausted', 'exhausted', 2, [({ attempt }) => attempt(REFUSED), ({ attemptAgain }) => attemptAgain(REFUSED)]],
];

test.each(JOURNEYS)('%s', async (_name, end, attempts, steps) => {
  const here = world();
  for (const step of [({ accept }: World) => accept(), ...steps]) {
    await step(here);
    expect(await here.stored()).toEqual(here.replayed());
  }
  expect(await here.stored()).toMatchObject({ attempts, progress: { state: end } });
  const recorded = await here.recorded();
  expect(recorded).toHaveLength(attempts);
  expect(recorded.every(({ endedAt }) => endedAt !== undefined)).toBe(true);
});
