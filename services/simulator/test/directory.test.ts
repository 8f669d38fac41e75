import { TEST_CARDS } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import type { Simulator } from '../src/app';
import type { Json } from './simulator-fixture';
import { connectDatabase, dropDatabase, newDatabasePrefix, startSimulator } from './simulator-fixture';
import type { BankClient } from './threeds-server-fixture';
import { authenticationRequest, bankClientOf, press } from './threeds-server-fixture';

const prefix = newDatabasePrefix();
const SERVER = { url: 'http://127.0.0.1:9' };
let replicas: Simulator[];
let one: BankClient;
let other: BankClient;
let database: MongoConnection;

beforeAll(async () => {
  replicas = await Promise.all([startSimulator(prefix), startSimulator(prefix)]);
  [one, other] = replicas.map(bankClientOf) as [BankClient, BankClient];
  database = await connectDatabase(prefix);
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.close();
  await dropDatabase(prefix);
});

const requestOf = (fields: Json = {}): Json => authenticationRequest(SERVER, fields);
const kept = (threeDSServerTransID: unknown): Promise<number> =>
  database
    .collection('authentications')
    .countDocuments({ threeDSServerTransID: { $eq: threeDSServerTransID ?? null } });

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/) as unknown;
const VALUE = expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/) as unknown;

describe('an AReq is answered by its card', () => {
  it.each<[string, (base: string) => Json]>([
    [TEST_CARDS.challenged.visa, (base) => ({ transStatus: 'C', acsURL: `${base}/acs/v2/challenge` })],
    [TEST_CARDS.challenged.mastercard, (base) => ({ transStatus: 'C', acsURL: `${base}/acs/v2/challenge` })],
    [TEST_CARDS.frictionless.visa, () => ({ transStatus: 'Y', eci: '05', authenticationValue: VALUE })],
    [TEST_CARDS.frictionless.mastercard, () => ({ transStatus: 'Y', eci: '02', authenticationValue: VALUE })],
    [TEST_CARDS.attempted.visa, () => ({ transStatus: 'A', eci: '06', authenticationValue: VALUE })],
    [TEST_CARDS.attempted.mastercard, () => ({ transStatus: 'A', eci: '01', authenticationValue: VALUE })],
    [TEST_CARDS.rejected.visa, () => ({ transStatus: 'R', transStatusReason: '12', eci: '07' })],
    [TEST_CARDS.rejected.mastercard, () => ({ transStatus: 'R', transStatusReason: '12', eci: '07' })],
    [TEST_CARDS.notEnrolled.visa, () => ({ transStatus: 'N', transStatusReason: '08' })],
    [TEST_CARDS.notEnrolled.mastercard, () => ({ transStatus: 'N', transStatusReason: '08' })],
  ])('%s', async (acctNumber, answer) => {
    const request = requestOf({ acctNumber });
    expect(await one.send(request)).toEqual({
      status: 200,
      body: {
        messageType: 'ARes',
        messageVersion: '2.2.0',
        threeDSServerTransID: request['threeDSServerTransID'],
        dsTransID: UUID,
        acsTransID: UUID,
        ...answer(one.base),
      },
    });
    expect(await kept(request['threeDSServerTransID'])).toBe(1);
  });

  it.each([TEST_CARDS.unavailable.visa, TEST_CARDS.unavailable.mastercard])(
    '%s: unavailable, and nothing is kept',
    async (acctNumber) => {
      const request = requestOf({ acctNumber });
      expect((await one.send(request)).status).toBe(503);
      expect(await kept(request['threeDSServerTransID'])).toBe(0);
    },
  );

  it('with values that nobody can foresee, of 20 bytes each', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(async () => (await one.send(requestOf({ acctNumber: TEST_CARDS.frictionless.visa }))).body),
    );
    for (const name of ['authenticationValue', 'dsTransID', 'acsTransID']) {
      expect(new Set(answers.map((answer) => answer[name])).size).toBe(3);
    }
    expect(Buffer.from(answers[0]!['authenticationValue'] as string, 'base64')).toHaveLength(20);
  });
});

describe('the same AReq again', () => {
  it.each([TEST_CARDS.challenged.visa, TEST_CARDS.frictionless.visa, TEST_CARDS.notEnrolled.visa])(
    '%s: gets the same answer, at both replicas, at once and later',
    async (acctNumber) => {
      const request = requestOf({ acctNumber });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).send(request)),
      );
      const again = await other.send(request);
      for (const { status, body } of answers) {
        expect([status, { ...body, acsURL: null }]).toEqual([200, { ...again.body, acsURL: null }]);
      }
      expect(await kept(request['threeDSServerTransID'])).toBe(1);
    },
  );

  it('is refused when it says something else', async () => {
    const request = requestOf();
    await one.send(request);
    for (const change of [
      { purchaseAmount: '1' },
      { acctNumber: TEST_CARDS.frictionless.visa },
      { merchantName: 'x' },
    ]) {
      const { status, body } = await one.send({ ...request, ...change });
      expect([status, body['messageType'], body['errorCode']]).toEqual([400, 'Erro', '305']);
    }
  });
});

describe('an AReq that is refused', () => {
  const missing = (name: string): [string, Json, string] => [`no ${name}`, { [name]: undefined }, '201'];
  const malformed = (name: string, value: unknown): [string, Json, string] => [
    `${name} ${JSON.stringify(value).slice(0, 40)}`,
    { [name]: value },
    '203',
  ];
  it.each<[string, Json, string]>([
    ['another message', { messageType: 'RReq' }, '101'],
    ['another version', { messageVersion: '2.1.0' }, '102'],
    ...[
      'threeDSServerTransID',
      'threeDSServerURL',
      'notificationURL',
      'deviceChannel',
      'messageCategory',
      'threeDSRequestorID',
      'threeDSRequestorName',
      'threeDSRequestorURL',
      'acctNumber',
      'merchantName',
      'acquirerMerchantID',
      'purchaseAmount',
      'purchaseCurrency',
      'purchaseExponent',
      'purchaseDate',
      'browserAcceptHeader',
      'browserLanguage',
      'browserUserAgent',
      'browserJavascriptEnabled',
    ].map(missing),
    malformed('threeDSServerTransID', 'not-a-uuid'),
    malformed('threeDSServerTransID', { $ne: '' }),
    malformed('threeDSServerURL', 'ftp://127.0.0.1/results'),
    malformed('threeDSServerURL', 'http://user:secret@127.0.0.1/results'),
    malformed('threeDSServerURL', 'http://user@127.0.0.1/results'),
    malformed('notificationURL', 'javascript:alert(1)'),
    malformed('notificationURL', 'http://127.0.0.1/\r\nset-cookie: a=b'),
    malformed('notificationURL', `http://127.0.0.1/${'a'.repeat(2048)}`),
    malformed('notificationURL', '/notification'),
    malformed('deviceChannel', '01'),
    malformed('messageCategory', '02'),
    malformed('acctNumber', '4012-0003-0000-1003'),
    malformed('acctNumber', 4012000300001003),
    malformed('cardExpiryDate', '3113'),
    malformed('merchantName', 'a'.repeat(256)),
    malformed('merchantName', 'two\nlines'),
    malformed('purchaseAmount', '-1'),
    malformed('purchaseAmount', '1.5'),
    malformed('purchaseAmount', '100000000000'),
    malformed('purchaseCurrency', 'XTS'),
    malformed('purchaseExponent', '5'),
    malformed('purchaseDate', '2026-01-31'),
    malformed('browserJavascriptEnabled', 'false'),
    malformed('email', 7),
  ])('%s', async (_name, fields, errorCode) => {
    const request = requestOf(fields);
    expect(await one.send(request)).toEqual({
      status: 400,
      body: {
        messageType: 'Erro',
        messageVersion: '2.2.0',
        errorCode,
        errorComponent: 'D',
        errorDescription: expect.stringContaining(
          Object.keys(fields)[0] as string, // The element's name, never its value.
        ) as unknown,
      },
    });
    expect(await kept(request['threeDSServerTransID'])).toBe(0);
  });

  it.each(['{', '[]', 'null', '"AReq"', ''])('%p', async (body) => {
    const answer = await one.send(body);
    expect([answer.status, answer.body['messageType'], answer.body['errorCode']]).toEqual([400, 'Erro', '101']);
  });

  it('more than 64 KiB', async () => {
    const answer = await one.send(JSON.stringify(requestOf()).padEnd(64 * 1024 + 1));
    expect([answer.status, answer.body['messageType']]).toEqual([413, 'Erro']);
  });
});

it('elements that a cardholder may withhold may be missing', async () => {
  const withheld = { cardholderName: undefined, email: '', browserIP: null, cardExpiryDate: undefined };
  expect((await one.send(requestOf(withheld))).status).toBe(200);
});

it('a public address is what browsers are sent to', async () => {
  const proxied = await startSimulator(prefix, { SIMULATOR_PUBLIC_URL: 'https://bank.example/sandbox/' });
  const client = bankClientOf(proxied);
  const ares = await client.challenge(requestOf());
  expect(ares['acsURL']).toBe('https://bank.example/sandbox/acs/v2/challenge');
  const { forms } = await client.open(ares);
  expect(forms.map(({ action }) => action)).toEqual(
    Array(3).fill(`https://bank.example/sandbox/acs/v2/challenge/${String(ares['acsTransID'])}/decision`),
  );
  await proxied.stop();
});

it('authentications are kept for a day', async () => {
  const request = requestOf();
  await one.send(request);
  const collection = database.collection('authentications');
  const document = await collection.findOne({ threeDSServerTransID: request['threeDSServerTransID'] });
  const { at } = document?.['authentication'] as { at: number };
  expect((document?.['expiresAt'] as Date).getTime() - at).toBe(24 * 60 * 60 * 1000);
  const indexes = await collection.indexes();
  expect(indexes.find(({ name }) => name === 'expires_at')).toMatchObject({ expireAfterSeconds: 0 });
});

it('when its database fails it says Erro, and shows a page', async () => {
  const failingPrefix = newDatabasePrefix();
  const failing = await startSimulator(failingPrefix);
  const client = bankClientOf(failing);
  const page = await client.open(await client.challenge(requestOf()));
  const connection = await connectDatabase(failingPrefix);
  // Views are read-only.
  await connection.collection('authentications').rename('renamed');
  await connection.mongoose.createCollection('authentications', { viewOn: 'renamed', pipeline: [] });

  const { status, body } = await client.send(requestOf());
  expect([status, body['messageType'], body['errorCode']]).toEqual([500, 'Erro', '403']);
  const after = await press(page, 'success');
  expect([after.status, after.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
  expect(after.text).toContain('Your bank cannot go on');

  await failing.stop();
  await connection.close();
  await dropDatabase(failingPrefix);
});
