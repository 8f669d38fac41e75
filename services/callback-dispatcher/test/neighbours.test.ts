import { randomUUID } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { DISPATCHER_LIMITS } from '../src/application/dispatcher';
import { callbackOf } from '../src/domain/callback';
import { newDelivery } from '../src/domain/delivery';
import type { World } from './dispatcher-fixture';
import { metricsOf, openWorld, outcome } from './dispatcher-fixture';
import type { Receiver, SilentHosts } from './receiver';
import { newCertificate, startReceiver, startSilentHosts } from './receiver';

const LOUD = 'loud_merchant';
const QUIET = 'quiet_merchant';
const HOSTS = 200;
const LOUD_BACKLOG = 2_000;
const QUIET_CALLBACKS = 30;
/** Longer than a test, so that calls to silent hosts stay open while others are served. */
const ENDLESS = { connectTimeoutMs: 600_000, totalTimeoutMs: 600_000 };
const BUDGET = DISPATCHER_LIMITS.unprovenPerMerchant;

const certificate = newCertificate();
let world: World;
let receiver: Receiver;
let silent: SilentHosts;

beforeAll(async () => {
  world = await openWorld('neighbours', certificate);
  await world.deliveries.ensureIndexes();
  for (const merchantAccount of [LOUD, QUIET]) {
    await world.accounts.create({ merchantAccount, password: new Secret(`${merchantAccount}_password`) });
  }
});
afterAll(() => world.close());
beforeEach(async () => {
  receiver = await startReceiver(certificate);
  silent = await startSilentHosts(HOSTS);
});
afterEach(async () => {
  await silent.close();
  await receiver.close();
  await world.stopServices();
  await world.clear();
});

const publish = (merchantAccount: string, url: string): Promise<string> =>
  world.publish(outcome(url, { merchantAccount }));

/** A due delivery left by another replica. */
async function leave(merchantAccount: string, url: string): Promise<string> {
  const id = randomUUID();
  const record = outcome(url, { merchantAccount });
  const callback = callbackOf({ ...record, kind: 'card', status: 'success', callbackUrl: url });
  const now = world.now();
  await world.deliveries.insert(id, newDelivery(callback, { at: now, claimableAt: now, correlationId: id }), []);
  return id;
}

const allDelivered = (ids: readonly string[]) =>
  until('all are delivered', async () => {
    const stored = await Promise.all(ids.map((id) => world.deliveries.load(id)));
    return stored.every((delivery) => delivery?.progress.state === 'delivered');
  });

describe('beside a merchant whose hosts all hang', () => {
  it('callbacks of another merchant do not wait, and the hanging calls stay within their limit', async () => {
    const dispatcher = await world.start({}, { timeouts: ENDLESS });
    await Promise.all(silent.urls.map((url) => publish(LOUD, url)));
    await until('the budget is used up', () => silent.connections() === BUDGET);
    const ids = await Promise.all(Array.from({ length: QUIET_CALLBACKS }, () => publish(QUIET, receiver.url)));
    await allDelivered(ids);
    expect(receiver.received).toHaveLength(QUIET_CALLBACKS);
    expect(silent.connections()).toBe(BUDGET);
    const metrics = await metricsOf(dispatcher);
    expect(metrics).toMatch(new RegExp(`^callback_in_flight_unproven\\S* ${BUDGET}$`, 'm'));
    expect(metrics).toMatch(new RegExp(`^callback_in_flight_by_account\\{account="${LOUD}",\\S* ${BUDGET}$`, 'm'));
  });

  it('its own proven addresses are served too', async () => {
    await world.start({}, { timeouts: ENDLESS });
    await allDelivered([await publish(LOUD, receiver.url)]);
    await Promise.all(silent.urls.map((url) => publish(LOUD, url)));
    await until('the budget is used up', () => silent.connections() === BUDGET);
    await allDelivered(await Promise.all(Array.from({ length: 10 }, () => publish(LOUD, receiver.url))));
    expect(silent.connections()).toBe(BUDGET);
  });

  it('due deliveries of another merchant are found behind its backlog', async () => {
    const url = (index: number) => silent.urls[index % HOSTS] ?? '';
    await Promise.all(Array.from({ length: LOUD_BACKLOG }, (_, index) => leave(LOUD, url(index))));
    const first = await leave(QUIET, receiver.url);
    await world.start({}, { timeouts: ENDLESS });
    await allDelivered([first]);
    await until('the budget is used up', () => silent.connections() === BUDGET);
    const ids = await Promise.all(Array.from({ length: QUIET_CALLBACKS }, () => leave(QUIET, receiver.url)));
    await allDelivered(ids);
    expect(silent.connections()).toBe(BUDGET);
  });
});
