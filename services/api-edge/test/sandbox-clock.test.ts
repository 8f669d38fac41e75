import { CLOCK_FOLLOWERS } from '@gateway/accounts';
import { openAudit } from '@gateway/audit';
import { Secret } from '@gateway/contracts';
import { silentLogger, until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { startEdgeFixture } from './edge-fixture';

const PATH = '/api/sandbox/clock';
const DAY_SECONDS = 86_400;
const PASSWORD = 'demo_password';
const MINUTE_SECONDS = 60;

let edge: EdgeFixture;
beforeAll(async () => {
  edge = await startEdgeFixture('edge-clock');
  await letOthersFollow('demo_merchant');
});
afterAll(() => edge.close());

/** The first move of an account, and the services that are not here follow all its moves. */
async function letOthersFollow(merchant_account: string): Promise<void> {
  const first = edge.merchant(PATH, { merchant_account, advance: 1 });
  await until('the move', () => edge.accounts.clocks.find(merchant_account));
  for (const service of CLOCK_FOLLOWERS.filter((one) => one !== 'api-edge')) {
    await edge.accounts.clocks.followed(merchant_account, service, Number.MAX_SAFE_INTEGER);
  }
  expect(await first).toMatchObject({ status: 'success', ahead: 1, followed: true });
}

async function auditOf(subject: string, limit: number) {
  const { mongoUri: uri, databasePrefix } = edge.space;
  const audit = await openAudit({ uri, databasePrefix, logger: silentLogger });
  const entries = await audit.list({ subject, limit });
  await audit.close();
  return entries;
}

const newAccount = (merchantAccount: string, settings = {}) =>
  edge.accounts.administration.create({ merchantAccount, password: new Secret(PASSWORD), settings });

describe('a move', () => {
  test('is answered when all services have followed, and is in the audit log', async () => {
    const answer = await edge.merchant(PATH, { advance: '3600' });
    expect(answer).toEqual({
      api_version: 1,
      merchant_account: 'demo_merchant',
      sessionid: expect.any(String),
      timestamp: expect.any(Number),
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
      clock: Number(answer['timestamp']) + 3_601,
      ahead: 3_601,
      followed: true,
    });
    expect(await auditOf('demo_merchant', 2)).toMatchObject([
      { action: 'clock.move', phase: 'done', operator: 'merchant demo_merchant', after: { aheadSeconds: 3_601 } },
      { action: 'clock.move', phase: 'intent', operator: 'merchant demo_merchant', before: { aheadSeconds: 1 } },
    ]);
  });

  test('is repeated by its Idempotency-Key without a further move', async () => {
    const key = { 'Idempotency-Key': 'first-key' };
    const first = await edge.merchant(PATH, { advance: 60 }, key);
    await edge.merchant(PATH, { advance: 5 });
    expect(await edge.merchant(PATH, { advance: 60 }, key)).toEqual(first);
    expect(await edge.merchant(PATH, { advance: 61 }, key)).toMatchObject({
      code: 3001,
      errors: [{ reason: 'key-used' }],
    });
    expect((await edge.merchant(PATH, {}))['ahead']).toBe(Number(first['ahead']) + 5);
  });

  test('says so if a service has not followed in time; asking again tells', async () => {
    await newAccount('waiting_account');
    const account = { merchant_account: 'waiting_account' };
    expect(await edge.merchant(PATH, account)).toMatchObject({ ahead: 0, followed: true });
    expect(await edge.merchant(PATH, { ...account, advance: 60 })).toMatchObject({
      status: 'success',
      ahead: 60,
      followed: false,
    });
    for (const service of CLOCK_FOLLOWERS) await edge.accounts.clocks.followed('waiting_account', service, 60_000);
    expect(await edge.merchant(PATH, account)).toMatchObject({ ahead: 60, followed: true });
  });

  test.each([0, -1, 1.5, 30 * DAY_SECONDS + 1, 'soon', true])('by %p is invalid', async (advance) => {
    const before = await edge.merchant(PATH, {});
    expect(await edge.merchant(PATH, { advance })).toMatchObject({
      status: 'error',
      code: 1004,
      message: 'Invalid advance in request message',
    });
    expect((await edge.merchant(PATH, {}))['ahead']).toBe(before['ahead']);
  });

  test('beyond the bounds of a day gets 429, and no entry in the audit log that all share', async () => {
    await newAccount('restless_account');
    for (let count = 0; count < 40; count += 1) {
      await edge.accounts.clocks.move('restless_account', 10 * DAY_SECONDS * 1000);
    }
    const body = JSON.stringify({
      ...{ api_version: 1, merchant_account: 'restless_account', merchant_password: PASSWORD },
      advance: 1,
    });
    const answer = await edge.request('POST', PATH, body, { 'content-type': 'application/json' });
    expect(answer.status).toBe(429);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 'error',
      code: 1007,
      errors: [{ reason: 'clock-limits' }],
    });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(DAY_SECONDS - 600);
    const moves = (await auditOf('restless_account', 5)).filter(({ action }) => action === 'clock.move');
    expect(moves).toEqual([]);
  });
});

describe('an account that may move real money has no such clock', () => {
  const refusal = { status: 'error', code: 2004, errors: [{ reason: 'type-not-allowed' }] };

  test('because payouts in EUR are on', async () => {
    await newAccount('payout_account', {
      transactionTypes: ['SALE', 'PAYOUT'],
      payoutRules: [{ kind: 'daily-amount', currency: 'EUR', maxE4: 10_000 }],
      payoutDebtor: 'DE89370400440532013000',
    });
    expect(await edge.merchant(PATH, { merchant_account: 'payout_account', advance: 60 })).toMatchObject(refusal);
  });

  test('from the moment in which it is activated, although its account is cached', async () => {
    await newAccount('active_account');
    const account = { merchant_account: 'active_account' };
    expect(await edge.merchant(PATH, account)).toMatchObject({ status: 'success', ahead: 0 });
    await edge.accounts.administration.changeState('active_account', 'activate');
    expect(await edge.merchant(PATH, { ...account, advance: 60 })).toMatchObject(refusal);
    expect(await edge.accounts.clocks.find('active_account')).toBeUndefined();
  });

  test('nor has one with a wrong password', async () => {
    expect(await edge.merchant(PATH, { merchant_password: 'wrong_password', advance: 60 })).toMatchObject({
      code: 2001,
    });
  });
});

test('a card-entry page ends sooner, for this account alone', async () => {
  let count = 0;
  const open = async (merchant_account: string): Promise<string> => {
    const answer = await edge.merchant('/api/pf/checkout', {
      ...{ merchant_account, transaction_type: 'SALE', transaction_unique_id: `clock-page-${(count += 1)}` },
      ...{ amount: '12.50', currency: 'XTS', first_name: 'Ann', last_name: 'Lee', country: 'DEU' },
      ...{ user_email: 'ann@example.com', user_ip: '192.0.2.1', redirect_url: 'https://shop.example/done' },
    });
    return new URL(String(answer['checkout_url'])).pathname;
  };
  const offersForm = async (path: string): Promise<boolean> =>
    (await edge.request('GET', path)).text.includes('card_number');
  const [mine, other] = [await open('demo_merchant'), await open('demo_custom')];
  await edge.merchant(PATH, { advance: 29 * MINUTE_SECONDS });
  expect([await offersForm(mine), await offersForm(other)]).toEqual([true, true]);
  await edge.merchant(PATH, { advance: 2 * MINUTE_SECONDS });
  expect([await offersForm(mine), await offersForm(other)]).toEqual([false, true]);
  const later = await open('demo_merchant');
  expect(await offersForm(later)).toBe(true);
  // Its customer's data goes when a sweeper ends it, once no attempt can come.
  const hasEnded = async (): Promise<boolean> => {
    const id = mine.split('/').at(-1) ?? '';
    const page = await edge.mongo.collection<{ _id: string; state: string }>('checkouts').findOne({ _id: id });
    return page?.state === 'ended';
  };
  await until('the end of the page', hasEnded, 40_000);
});
