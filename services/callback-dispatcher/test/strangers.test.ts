import { until } from '@gateway/testing';
import type { World } from './dispatcher-fixture';
import { MERCHANT, openWorld, outcome, payoutOutcome } from './dispatcher-fixture';
import type { Receiver } from './receiver';
import { fail, newCertificate, startReceiver } from './receiver';

const CALLBACKS = 20;
const BURST = 5;
/** None comes back while a test runs. */
const NEVER = 1e-9;
const STRANGERS = {
  perDestination: { burst: BURST, perSecond: NEVER },
  perAccount: { burst: 3 * BURST, perSecond: NEVER },
};

const certificate = newCertificate();
let world: World;
let stranger: Receiver;
let receiver: Receiver;

beforeAll(async () => {
  world = await openWorld('strangers', certificate);
  await world.deliveries.ensureIndexes();
});
afterAll(() => world.close());
beforeEach(async () => {
  stranger = await startReceiver(certificate);
  receiver = await startReceiver(certificate);
  stranger.answer(fail);
});
afterEach(async () => {
  await stranger.close();
  await receiver.close();
  await world.stopServices();
  await world.clear();
});

const states = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await world.deliveries.load(id))?.progress.state));

/** A schedule whose retries are all due at once: what a move of the sandbox clock makes of any. */
const AT_ONCE = { CALLBACK_RETRY_SCHEDULE: Array.from({ length: 12 }, () => '0').join(',') };

async function report(to: Receiver, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const url = `${to.url}/${each}`;
    ids.push(each % 2 === 0 ? await world.publishPayout(payoutOutcome(url)) : await world.publish(outcome(url)));
  }
  return ids;
}

test('a host that acknowledges nothing gets a few attempts, whatever is due; another one gets all', async () => {
  await world.start(AT_ONCE, { strangers: STRANGERS });
  const unwanted = await report(stranger, CALLBACKS);
  await until('the budget is used up', () => stranger.received.length >= BURST);
  const wanted = await report(receiver, 3 * CALLBACKS);
  await until('all others are delivered', async () => (await states(wanted)).every((state) => state === 'delivered'));
  expect(stranger.received).toHaveLength(BURST);
  expect(await states(unwanted)).toEqual(unwanted.map(() => 'pending'));
});

test('what has waited for a budget is sent when there is one', async () => {
  const first = await world.start(AT_ONCE, { strangers: STRANGERS });
  const ids = await report(stranger, CALLBACKS);
  await until('the budget is used up', () => stranger.received.length >= BURST);
  await until('all are stored', async () => (await states(ids)).every((state) => state === 'pending'));
  await first.stop();
  stranger.answer((_received, response) => void response.end('OK'));
  await world.start(AT_ONCE, { strangers: STRANGERS });
  await until('all are delivered', async () => (await states(ids)).every((state) => state === 'delivered'), 30_000);
  expect(world.eventsOf(ids[0] ?? '')).not.toContain('CallbackExhausted');
});

test('the names of one host share what their account has for strangers', async () => {
  const others = await Promise.all(Array.from({ length: 6 }, () => startReceiver(certificate)));
  for (const other of others) other.answer(fail);
  await world.start(AT_ONCE, { strangers: STRANGERS });
  for (const other of others) await report(other, BURST);
  const calls = () => others.reduce((sum, { received }) => sum + received.length, 0);
  await until('the budget is used up', () => calls() >= STRANGERS.perAccount.burst);
  const [last] = await Promise.all([
    report(receiver, 1),
    world.deliveries.list({ merchantAccount: MERCHANT, limit: 1 }),
  ]);
  await until('another is stored', async () => (await states(last)).every((state) => state === 'pending'));
  expect(calls()).toBe(STRANGERS.perAccount.burst);
  expect(receiver.received).toEqual([]);
  for (const other of others) await other.close();
});
