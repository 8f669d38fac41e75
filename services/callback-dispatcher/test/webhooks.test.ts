import { Secret } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import { until } from '@gateway/testing';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { World } from './dispatcher-fixture';
import { isSignedWith, openWorld, outcome, payoutOutcome } from './dispatcher-fixture';
import type { Received, Receiver } from './receiver';
import { acknowledge, fail, newCertificate, startReceiver } from './receiver';

const PASSWORD = 'password_of_the_webhook_tests';
/** The directory's. */
const CACHE_MS = 30_000;
const PUBLISH_EVERY_MS = 40;
const certificate = newCertificate();
let world: World;
let receiver: Receiver;

beforeAll(async () => {
  world = await openWorld('webhooks', certificate);
  for (let replica = 0; replica < 2; replica += 1) await world.start({ CALLBACK_RETRY_SCHEDULE: '10,30' });
});
afterAll(() => world.close());
beforeEach(async () => (receiver = await startReceiver(certificate)));
afterEach(() => receiver.close());

async function newMerchant(merchantAccount: string): Promise<string> {
  const { webhookSecret } = await world.accounts.create({ merchantAccount, password: new Secret(PASSWORD) });
  return webhookSecret.expose();
}

const isDelivered = (id: string) =>
  until(`${id} delivered`, async () => (await world.deliveries.load(id))?.progress.state === 'delivered');

/** As a merchant verifies with the package, which by default expects JSON. */
function isVerified(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

test('the unmodified standardwebhooks package verifies a callback, beside its checkSum', async () => {
  const merchantAccount = 'webhook_merchant';
  const secret = await newMerchant(merchantAccount);
  const id = await world.publish(
    outcome(receiver.url, { merchantAccount, callbackSequence: 3, message: 'Zürich & +1' }),
  );
  await isDelivered(id);
  const [received] = receiver.received;
  if (received === undefined) throw new Error('nothing received');
  expect(received.headers).toMatchObject({
    'webhook-id': id,
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'gateway-sequence': '3',
  });
  expect(isVerified(secret, received)).toBe(true);
  expect(isSignedWith(PASSWORD, received.fields)).toBe(true);
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  for (const [key, changed] of [
    [other, received],
    [secret, { ...received, body: `${received.body}&x=1` }],
    [secret, { ...received, headers: { ...received.headers, 'webhook-id': 'another' } }],
    [secret, { ...received, headers: { ...received.headers, 'webhook-timestamp': '1000000000' } }],
  ] as const) {
    expect(isVerified(key, changed)).toBe(false);
  }
});

test('a payout has the number 1; without a number there is no header', async () => {
  const merchantAccount = 'numbered_merchant';
  await newMerchant(merchantAccount);
  await isDelivered(await world.publishPayout(payoutOutcome(receiver.url, { merchantAccount })));
  expect(receiver.received.map(({ headers }) => headers['gateway-sequence'])).toEqual(['1']);
  await isDelivered(await world.publish(outcome(receiver.url, { merchantAccount })));
  expect(receiver.received[1]?.headers).not.toHaveProperty('gateway-sequence');
});

test('an account without a secret gets no signature header', async () => {
  const merchantAccount = 'unsigned_merchant';
  await newMerchant(merchantAccount);
  const { mongoUri: uri, databasePrefix } = world.space;
  const mongo = await connectMongo({ uri, database: `${databasePrefix}accounts` });
  await mongo.collection<{ _id: string }>('webhookSecrets').deleteOne({ _id: merchantAccount });
  await mongo.close();
  const id = await world.publish(outcome(receiver.url, { merchantAccount }));
  await isDelivered(id);
  expect(receiver.received[0]?.headers).toMatchObject({ 'webhook-id': id });
  expect(receiver.received[0]?.headers).not.toHaveProperty('webhook-signature');
  expect(isSignedWith(PASSWORD, receiver.received[0]?.fields ?? {})).toBe(true);
});

test('a retry has the same body and id, a new time and a new signature', async () => {
  const merchantAccount = 'retried_merchant';
  const secret = await newMerchant(merchantAccount);
  receiver.answer(fail);
  const id = await world.publish(outcome(receiver.url, { merchantAccount }));
  await until('the first attempt', async () => (await world.deliveries.load(id))?.attempts === 1);
  receiver.answer(acknowledge);
  world.pass(11_000);
  await isDelivered(id);
  const [first, second] = receiver.received as [Received, Received];
  expect(second.body).toBe(first.body);
  for (const received of [first, second]) {
    expect(received.headers['webhook-id']).toBe(id);
    expect(isVerified(secret, received)).toBe(true);
  }
  const secondsBetween = Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp']);
  expect(secondsBetween).toBeGreaterThanOrEqual(10);
  expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature']);
});

test('a rotation under load rejects no callback', async () => {
  const merchantAccount = 'rotating_merchant';
  let trusted = await newMerchant(merchantAccount);
  let rejected = 0;
  receiver.answer((received, response) => {
    const isGood = isVerified(trusted, received);
    if (!isGood) rejected += 1;
    response.writeHead(isGood ? 200 : 401).end('OK');
  });
  const published: Promise<string>[] = [];
  const timer = setInterval(
    () => published.push(world.publish(outcome(receiver.url, { merchantAccount, callbackSequence: 1 }))),
    PUBLISH_EVERY_MS,
  );
  /** Callbacks that flow before this have arrived, and so have ten more. */
  const flowOn = async (): Promise<void> => {
    for (const id of await Promise.all(published)) await isDelivered(id);
    const soFar = receiver.received.length;
    await until('more callbacks', () => receiver.received.length >= soFar + 10);
  };
  const signatures = () => String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ').length;

  await flowOn();
  const { webhookSecret } = await world.accounts.addWebhookSecret(merchantAccount);
  await flowOn();
  world.pass(CACHE_MS);
  await flowOn();
  expect(signatures()).toBe(2);
  trusted = webhookSecret.expose();
  await flowOn();
  await world.accounts.retireWebhookSecret(merchantAccount);
  world.pass(CACHE_MS);
  await flowOn();
  expect(signatures()).toBe(1);
  clearInterval(timer);
  for (const id of await Promise.all(published)) await isDelivered(id);
  expect(rejected).toBe(0);
  expect(receiver.received).toHaveLength(published.length);
});
