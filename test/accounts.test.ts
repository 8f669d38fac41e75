import type { AccountChanges, NewAccount } from '@gateway/accounts';
import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { JSON_TYPE, rawRequest } from './support/http';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, clientOf, followUp, post, recordsOf, startSystem, uniqueId } from './support/system';

const PASSWORD = 'the_password';
/** No published test card: those are declined in real currencies. */
const REAL_CARD = { card_number: '4242424242424242' };

const ACCOUNTS: NewAccount[] = [
  { merchantAccount: 'suspended_one' },
  { merchantAccount: 'closed_one', settings: { ipAllowlist: ['10.0.0.0/8'] } },
  { merchantAccount: 'fenced_out', settings: { ipAllowlist: ['10.0.0.0/8', '2001:db8::/32'] } },
  { merchantAccount: 'fenced_in', settings: { ipAllowlist: ['127.0.0.1'] } },
  { merchantAccount: 'sales_only', settings: { transactionTypes: ['SALE', 'CHECK'] } },
  {
    merchantAccount: 'active_one',
    settings: { limits: [{ currency: 'EUR', minE4: 10_000, maxE4: 1_000_000 }] },
    terminals: [{ currency: 'EUR' }, { currency: 'JPY' }, { currency: 'USD' }],
  },
  { merchantAccount: 'limited_one', settings: { limits: [{ currency: 'XTS', minE4: 50_000, maxE4: 100_000 }] } },
  { merchantAccount: 'three_a_second', settings: { rateLimitPerSecond: 3 } },
  { merchantAccount: 'late_void', terminals: [{ currency: 'XTS', lateVoid: true }] },
  { merchantAccount: 'short_hold', terminals: [{ currency: 'XTS', holdSeconds: 4 }] },
  { merchantAccount: 'changing_one' },
  { merchantAccount: 'rotating_one' },
];

let system: System;
beforeAll(async () => {
  system = await startSystem('acc');
  const { administration } = system.accounts;
  await Promise.all(ACCOUNTS.map((account) => administration.create({ ...account, password: new Secret(PASSWORD) })));
  await administration.changeState('suspended_one', 'suspend');
  await administration.changeState('closed_one', 'close');
  await administration.changeState('active_one', 'activate');
  const deactivateTerminals = [(await terminal('active_one', 'USD')).midReference];
  await administration.change('active_one', { deactivateTerminals });
});
afterAll(() => system.stop());

const as = (merchantAccount: string, fields: Body): Body => ({
  merchant_account: merchantAccount,
  merchant_password: PASSWORD,
  ...fields,
});

async function send(merchantAccount: string, fields: Body): Promise<Body> {
  const { status, data } = await system.send(as(merchantAccount, fields));
  expect(status).toBe(200);
  return data;
}

/** The last terminal of the account in a currency: the one that the test has added. */
async function terminal(merchantAccount: string, currency: string) {
  const { terminals } = await system.accounts.administration.get(merchantAccount);
  const found = terminals.filter((one) => one.currency === currency).at(-1);
  if (found === undefined) throw new Error(`${merchantAccount} has no terminal in ${currency}`);
  return found;
}

describe('access', () => {
  test.each([
    ['suspended_one', 2003, 'Merchant account exists but not active'],
    ['closed_one', 2003, 'Merchant account exists but not active'],
    ['fenced_out', 2008, 'Access from this IP-address is not available'],
  ])('%s gets %i', async (account, code, message) => {
    for (const fields of [
      cardRequest('SALE'),
      checkOf({ transaction_unique_id: uniqueId() }),
      { transaction_type: 'X' },
    ]) {
      expect(await send(account, fields)).toMatchObject({ status: 'error', code, message });
    }
  });

  test('an address on the allowlist is accepted', async () => {
    expect(await send('fenced_in', cardRequest('SALE'))).toMatchObject({ code: 0 });
  });

  test('wrong password, unknown account and malformed credentials get the same answer', async () => {
    const wrong: Body[] = [
      { merchant_password: 'wrong_password' },
      { merchant_account: 'nobody_here' },
      { merchant_account: 'suspended_one', merchant_password: 'wrong_password' },
      { merchant_account: 'fenced_out', merchant_password: 'wrong_password' },
      { merchant_password: 'x' },
      { merchant_account: 'x'.repeat(33) },
      { merchant_password: 'the_password ' },
      { merchant_account: 'ACTIVE_ONE' },
    ];
    const answers = await Promise.all(wrong.map((fields) => send('active_one', { ...cardRequest('SALE'), ...fields })));
    const plain = answers.map(({ sessionid: _id, timestamp: _at, ...rest }) => rest);
    for (const { merchant_account: _account, transaction_unique_id: _uniqueId, ...rest } of plain) {
      expect(rest).toEqual({
        api_version: 1,
        authcode: null,
        status: 'error',
        code: 2001,
        message: 'Incorrect value in merchant account or pass field',
      });
    }
  });
});

describe('X-Forwarded-For', () => {
  const sale = async (port: number, account: string, forwardedFor?: string): Promise<unknown> => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    return (await post(clientOf(port), as(account, cardRequest('SALE')), headers)).data['code'];
  };
  let trusting: number;
  beforeAll(async () => {
    trusting = (await system.startEdge({ TRUSTED_PROXY_CIDRS: '127.0.0.0/8,192.0.2.0/24' })).ports.api;
  });

  test('of an untrusted client is ignored', async () => {
    expect(await sale(system.edge.ports.api, 'fenced_out', '10.1.2.3')).toBe(2008);
    expect(await sale(system.edge.ports.api, 'fenced_in', '203.0.113.9')).toBe(0);
  });

  test.each<[string | undefined, number]>([
    ['10.1.2.3', 0],
    ['2001:db8::7', 0],
    ['10.1.2.3, 192.0.2.8', 0],
    ['203.0.113.9, 10.1.2.3', 0],
    ['10.1.2.3, 203.0.113.9', 2008],
    ['10.1.2.3, 203.0.113.9, 192.0.2.8', 2008],
    ['unknown', 2008],
    ['10.1.2.3:443 or so', 2008],
    [undefined, 2008],
  ])('"%s" of a trusted proxy gets %i', async (forwardedFor, code) => {
    expect(await sale(trusting, 'fenced_out', forwardedFor)).toBe(code);
  });
});

describe('permissions of an account', () => {
  test.each(['AUTH', 'TOKENIZE', 'REFUND', 'AUTH3D'])('%s is not enabled: 2004', async (type) => {
    const answer = await send('sales_only', { ...cardRequest('AUTH'), transaction_type: type });
    expect(answer).toMatchObject({ status: 'error', code: 2004, message: 'Transaction is not allowed to account' });
  });

  test('an enabled type is accepted', async () => {
    expect(await send('sales_only', cardRequest('SALE'))).toMatchObject({ code: 0 });
  });

  test('real money before activation: 2009', async () => {
    const fields = cardRequest('SALE', { currency: 'EUR' });
    expect(await send('sales_only', fields)).toMatchObject({ code: 2009, message: 'Merchant is not activated' });
    expect(await send('active_one', cardRequest('SALE', { currency: 'EUR', ...REAL_CARD }))).toMatchObject({ code: 0 });
  });

  test.each<[string, Body, number]>([
    ['no terminal for the currency', { currency: 'GBP' }, 2006],
    ['none that is active', { currency: 'USD' }, 2006],
    ['below the limit', { currency: 'EUR', amount: '0.99' }, 2007],
    ['at the lower limit', { currency: 'EUR', amount: '1.00' }, 0],
    ['at the upper limit', { currency: 'EUR', amount: '100' }, 0],
    ['above the limit', { currency: 'EUR', amount: '100.01' }, 2007],
    ['a currency without a limit', { currency: 'JPY', amount: '9999999' }, 0],
    ['half a yen', { currency: 'JPY', amount: '100.5' }, 3022],
    ['a whole yen, written out', { currency: 'JPY', amount: '100.0000' }, 0],
    ['a tenth of a cent', { currency: 'EUR', amount: '10.001' }, 3022],
    ['a ten-thousandth in the test currency', { currency: 'XTS', amount: '10.0001' }, 0],
    ['nothing', { currency: 'XTS', amount: '0' }, 3022],
    ['a terminal that does not exist', { currency: 'EUR', mid_reference: 'MD00000000000000' }, 2005],
    [
      'an unknown terminal and a tenth of a cent',
      { currency: 'EUR', amount: '10.001', mid_reference: 'x'.repeat(16) },
      2005,
    ],
    ['an unknown terminal and too much', { currency: 'EUR', amount: '101', mid_reference: 'x'.repeat(16) }, 2007],
  ])('SALE, %s: %j gets %i', async (_what, fields, code) => {
    expect(await send('active_one', cardRequest('SALE', { ...REAL_CARD, ...fields }))).toMatchObject({ code });
  });

  test('AUTH of zero verifies the card', async () => {
    expect(await send('active_one', cardRequest('AUTH', { amount: '0' }))).toMatchObject({
      status: 'success',
      code: 0,
    });
  });

  test('a follow-up must be above zero and in whole minor units', async () => {
    const auth = await send('active_one', cardRequest('AUTH'));
    for (const [amount, currency] of [
      ['0', 'XTS'],
      ['1.001', 'EUR'],
    ] as const) {
      const answer = await send('active_one', followUp('SETTLE', auth['reference'], { amount, currency }));
      expect(answer).toMatchObject({ status: 'error', code: 3022, message: 'The amount is incorrect' });
    }
    expect(await send('active_one', followUp('SETTLE', auth['reference']))).toMatchObject({ code: 0 });
  });

  test('limits apply to follow-ups too', async () => {
    const auth = await send('limited_one', cardRequest('AUTH'));
    expect(await send('limited_one', followUp('SETTLE', auth['reference'], { amount: '4.99' }))).toMatchObject({
      code: 2007,
    });
    expect(await send('limited_one', followUp('SETTLE', auth['reference'], { amount: '5.00' }))).toMatchObject({
      code: 0,
    });
  });

  test('mid_reference names an active terminal of the currency, or gets 2005', async () => {
    const [eur, usd, jpy] = await Promise.all(
      ['EUR', 'USD', 'JPY'].map((currency) => terminal('active_one', currency)),
    );
    const sale = (mid?: string) =>
      send('active_one', cardRequest('SALE', { currency: 'EUR', ...REAL_CARD, mid_reference: mid }));
    expect(await sale(eur?.midReference)).toMatchObject({ code: 0 });
    for (const mid of [usd?.midReference, jpy?.midReference]) {
      expect(await sale(mid)).toMatchObject({ status: 'error', code: 2005, message: 'MID is not active' });
    }
  });

  test('a test card in a real currency is declined: 3114', async () => {
    const answer = await send('active_one', cardRequest('SALE', { currency: 'EUR' }));
    expect(answer).toMatchObject({ status: 'decline', code: 3114, message: 'Currency is not supported by MID' });
  });
});

describe('requests per second', () => {
  test('beyond the limit get 429 with Retry-After, and succeed a second later', async () => {
    let now = Date.now();
    const edge = await system.startEdge({}, { now: () => now });
    const check = () =>
      rawRequest(edge.ports.api, {
        headers: JSON_TYPE,
        body: JSON.stringify({
          api_version: 1,
          ...as('three_a_second', checkOf({ transaction_unique_id: uniqueId() })),
        }),
      });
    for (let second = 0; second < 2; second += 1, now += 1_000) {
      const answers = await Promise.all(Array.from({ length: 8 }, check));
      const byStatus = (status: number) => answers.filter((answer) => answer.status === status);
      expect(byStatus(200).map(({ body }) => body['code'])).toEqual([3014, 3014, 3014]);
      expect(byStatus(429)).toHaveLength(5);
      for (const { headers, body } of byStatus(429)) {
        expect(headers['retry-after']).toBe('1');
        expect(headers['x-request-id']).toBe(body['sessionid']);
        expect(body).toMatchObject({ status: 'error', code: 1007, message: 'Too many requests' });
      }
    }
  });
});

describe('a change takes effect within 30 s', () => {
  let now = 0;
  let http: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    const edge = await system.startEdge({}, { now: () => Date.now() + now });
    http = clientOf(edge.ports.api);
  });
  const sale = async (account: string, more: Body = {}): Promise<unknown> =>
    (await post(http, as(account, cardRequest('SALE', more)))).data['code'];

  test('of state, list, limits and types', async () => {
    const { administration } = system.accounts;
    const change = (changes: AccountChanges) => () => administration.change('changing_one', changes);
    const steps: [() => Promise<unknown>, number][] = [
      [change({ ipAllowlist: ['10.0.0.0/8'] }), 2008],
      [change({ ipAllowlist: [] }), 0],
      [change({ limits: [{ currency: 'XTS', minE4: 0, maxE4: 1 }] }), 2007],
      [change({ limits: [] }), 0],
      [change({ transactionTypes: ['CHECK'] }), 2004],
      [change({ transactionTypes: ['SALE'] }), 0],
      [() => administration.changeState('changing_one', 'suspend'), 2003],
      [() => administration.changeState('changing_one', 'reopen'), 0],
      [() => administration.changeState('changing_one', 'close'), 2003],
    ];
    expect(await sale('changing_one')).toBe(0);
    for (const [apply, code] of steps) {
      await apply();
      now += 30_000;
      expect(await sale('changing_one')).toBe(code);
    }
  });

  test('of the password: the old one is rejected, the new one accepted', async () => {
    expect(await sale('rotating_one')).toBe(0);
    await system.accounts.administration.rotatePassword('rotating_one', { password: new Secret('new_password') });
    now += 30_000;
    expect(await sale('rotating_one')).toBe(2001);
    expect(await sale('rotating_one', { merchant_password: 'new_password' })).toBe(0);
  });

  test('and applies at once in an edge that starts later', async () => {
    await system.accounts.administration.rotatePassword('rotating_one', { password: new Secret('newer_password') });
    const later = clientOf((await system.startEdge()).ports.api);
    const codeOf = async (merchant_password: string): Promise<unknown> =>
      (await post(later, as('rotating_one', cardRequest('SALE', { merchant_password })))).data['code'];
    expect(await codeOf('new_password')).toBe(2001);
    expect(await codeOf('newer_password')).toBe(0);
  });
});

describe('settings of a terminal', () => {
  test('late voids: at a terminal that allows it a settled AUTH is voided once, and then not refunded', async () => {
    const { midReference } = await terminal('late_void', 'XTS');
    const follow = (type: 'SETTLE' | 'VOID' | 'REFUND', reference: unknown) =>
      send('late_void', followUp(type, reference));
    const settled = async (mid?: string): Promise<[auth: Body, settle: Body]> => {
      const auth = await send('late_void', cardRequest('AUTH', { mid_reference: mid }));
      return [auth, await follow('SETTLE', auth['reference'])];
    };
    const [auth, settle] = await settled(midReference);
    const voided = await follow('VOID', auth['reference']);
    expect(voided).toMatchObject({ status: 'success', code: 0 });
    expect(await system.ledger(String(voided['reference']))).toMatchObject([{ effect: 'voided', amount: 10 }]);
    expect(await follow('VOID', auth['reference'])).toMatchObject({ code: 3008 });
    expect(await follow('REFUND', settle['reference'])).toMatchObject({ code: 3005 });

    const [refundedAuth, refundedSettle] = await settled(midReference);
    expect(await follow('REFUND', refundedSettle['reference'])).toMatchObject({ code: 0 });
    expect(await follow('VOID', refundedAuth['reference'])).toMatchObject({ code: 3004 });

    const [plainAuth] = await settled();
    expect(await follow('VOID', plainAuth['reference'])).toMatchObject({ code: 3004 });
  });

  test('the hold: SETTLE gets 3007 once it is over, and VOID still releases it', async () => {
    const { midReference } = await terminal('short_hold', 'XTS');
    const auth = await send('short_hold', cardRequest('AUTH', { mid_reference: midReference }));
    const tooMuch = () => send('short_hold', followUp('SETTLE', auth['reference'], { amount: '10.01' }));
    expect(await tooMuch()).toMatchObject({ code: 3016 });
    await until('the hold is over', async () => (await tooMuch())['code'] === 3007);
    const message = 'Illegal interval between AUTH and SETTLE/VOID, between AUTH3D and SETTLE/SALE';
    const late = await send('short_hold', followUp('SETTLE', auth['reference']));
    expect(late).toMatchObject({ status: 'error', code: 3007, message });
    expect(await system.ledger(String(late['reference']))).toEqual([]);
    expect(await send('short_hold', followUp('VOID', auth['reference']))).toMatchObject({ code: 0 });
    const checked = await send('short_hold', checkOf({ reference: auth['reference'] }));
    expect(recordsOf(checked)[0]).toMatchObject({ transaction_type: 'AUTH', status: 'SUCCESS' });
  });
});
