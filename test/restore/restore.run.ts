import { services, TEST_CARDS } from '@gateway/contracts';
import { createTopics } from '@gateway/messaging';
import { kafkaOf, until } from '@gateway/testing';
import { startTraffic } from '../rotation/traffic';
import { payout, PAYOUT_PATH, STATUS_PATH } from '../support/payouts';
import type { Body } from '../support/system';
import { CARD_PATH, cardRequest, checkOf, CREDENTIALS, followUp, recordsOf } from '../support/system';
import { copyDatabases, restoreDatabases } from './database-copy';
import type { Gateway } from './gateway';
import { DATABASES, openGateway } from './gateway';

const TIMEOUT_MS = 150_000;
/** `npm run test:restore -- --long`: payments go on in each variant. */
const IS_LONG = process.env['TEST_LONG'] === 'yes';

let gateway: Gateway;

const pay = (fields: Body): Promise<Body> => gateway.ask(CARD_PATH, fields);
const payOut = (fields: Body): Promise<Body> => gateway.ask(PAYOUT_PATH, fields);

/** Its end, as CHECK tells it. */
async function ended({ path, by }: { path: string; by: Body }): Promise<Body> {
  return until(
    `the end of ${JSON.stringify(by)}`,
    async () => {
      const { data } = await gateway.http().post<Body>(path, { ...CREDENTIALS, ...checkOf(by) });
      return recordsOf(data)?.find(({ status }) => status !== 'PENDING');
    },
    60_000,
  );
}

interface Began {
  /** Before the copy. */
  auth: unknown;
  sale: unknown;
  /** Its hold ends in the lost time. */
  short: unknown;
}

const begin = async (): Promise<Began> => ({
  auth: (await pay(cardRequest('AUTH')))['reference'],
  sale: (await pay(cardRequest('SALE')))['reference'],
  short: (await pay(cardRequest('AUTH', { card_number: TEST_CARDS.notEnrolled.mastercard })))['reference'],
});

/** One operation of each kind, all of which succeed. */
async function loseWindow({ auth, sale, short }: Began) {
  const saleRequest = cardRequest('SALE');
  const payoutRequest = payout();
  const answers = [
    await pay(saleRequest),
    await pay(cardRequest('AUTH')),
    await pay(followUp('SETTLE', auth)),
    await pay(followUp('REFUND', sale)),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'success'));
  const { path, fields } = nextSale3d();
  const { reference: authenticated } = await gateway.ask(path, fields);
  const { reference: paid } = await payOut(payoutRequest);
  const expiry = { transaction_unique_id: `expiry-${String(short)}` };
  gateway.asked.push({ path: CARD_PATH, fields: expiry });
  const references = [...answers.map(({ reference }) => reference), authenticated];
  const operations = [
    ...references.map((reference) => ({ path: CARD_PATH, by: { reference } })),
    { path: STATUS_PATH, by: { reference: paid } },
    { path: CARD_PATH, by: expiry },
  ];
  for (const operation of operations) expect(await ended(operation)).toMatchObject({ status: 'SUCCESS' });
  return { saleRequest, payoutRequest, operations };
}

function nextSale3d() {
  for (;;) {
    const one = gateway.next();
    if (one.fields['transaction_type'] === 'SALE3D') return one;
  }
}

/** Merchants repeat what had no answer, with the same ids. */
async function repeatUnanswered(): Promise<void> {
  const unanswered = gateway.asked.filter(
    ({ fields, answer }) => 'amount' in fields && (answer === undefined || answer['code'] === 10),
  );
  for (const { path, fields } of unanswered) {
    await gateway.ask(path, fields);
  }
}

beforeAll(async () => {
  gateway = await openGateway('restore');
  await gateway.start();
}, TIMEOUT_MS);

afterAll(() => gateway.close(), TIMEOUT_MS);

const VARIANTS: [name: string, restored: string[], recovering: string[], withTraffic: boolean][] = [
  ['all databases', DATABASES, ['api-edge', 'card-processing', 'payout'], false],
  ['all databases under traffic', DATABASES, ['api-edge', 'card-processing', 'payout'], true],
  ...Object.values(services)
    .filter(({ name }) => name !== services.simulator.name)
    .map(({ name, database }): (typeof VARIANTS)[number] => [
      `the database of ${name}`,
      [database],
      [name],
      name === services.cardProcessing.name || IS_LONG,
    ]),
];

it.each(VARIANTS)(
  'charges and pays nobody twice after %s came from a backup',
  async (_name, restored, recovering, withTraffic) => {
    const traffic = withTraffic
      ? startTraffic(gateway.next, async ({ path, fields }) => ({ status: 200, data: await gateway.ask(path, fields) }))
      : undefined;
    const began = await begin();
    const copy = await copyDatabases(gateway.mongo.client, DATABASES.map(gateway.named));
    const { saleRequest, payoutRequest, operations } = await loseWindow(began);

    await gateway.stop(restored);
    await restoreDatabases(gateway.mongo.client, copy, restored.map(gateway.named));
    await gateway.start(restored);

    // An edge in recovery begins nothing new; any other knows the ids.
    const refusal = { code: recovering.includes('api-edge') ? 10 : 3001 };
    expect(await pay(saleRequest)).toMatchObject(refusal);
    expect(await payOut(payoutRequest)).toMatchObject(refusal);
    for (const operation of operations) expect(await ended(operation)).toMatchObject({ status: 'SUCCESS' });
    const { lines } = await gateway.recovery('status');
    expect(lines.map((line) => line.split(':')[0])).toEqual(expect.arrayContaining(recovering));
    await gateway.endRecovery();
    expect(await gateway.recovery('status')).toEqual({ code: 0, lines: ['No service is in recovery.'] });

    // Each service looks once a second whether its recovery has ended.
    await until('new work begins', async () => (await pay(cardRequest('SALE')))['status'] === 'success');
    expect(await pay(saleRequest)).toMatchObject({ code: 3001 });
    expect(await payOut(payoutRequest)).toMatchObject({ code: 3001 });
    await traffic?.stop();
    await repeatUnanswered();
    await gateway.booksAgree();
  },
  TIMEOUT_MS,
);

it(
  'goes on after Kafka was lost, with a current MongoDB',
  async () => {
    const { saleRequest, operations } = await loseWindow(await begin());
    await gateway.stop([services.cardProcessing.database]);
    // In the journal, and in no other database.
    expect(await pay(cardRequest('SALE'))).toMatchObject({ code: 11 });
    await gateway.stop();
    await loseKafka();
    await gateway.start();

    const { lines } = await gateway.recovery('status');
    expect(lines.filter((line) => line.includes('messages that Kafka no longer has'))).not.toEqual([]);
    for (const operation of operations) expect(await ended(operation)).toMatchObject({ status: 'SUCCESS' });
    await gateway.endRecovery();
    await until('new work begins', async () => (await pay(cardRequest('SALE')))['status'] === 'success');
    expect(await pay(saleRequest)).toMatchObject({ code: 3001 });
    await gateway.booksAgree();
  },
  TIMEOUT_MS,
);

/** Topics are there again, and empty. */
async function loseKafka(): Promise<void> {
  const { topicPrefix: prefix } = gateway.system.space;
  const kafka = kafkaOf(gateway.system.space);
  const admin = kafka.admin();
  await admin.connect();
  const topicsThere = async () => (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  await admin.deleteTopics({ topics: await topicsThere(), timeout: 30_000 });
  await until('the topics are gone', async () => (await topicsThere()).length === 0);
  await admin.disconnect();
  await createTopics({ kafka, prefix });
}
