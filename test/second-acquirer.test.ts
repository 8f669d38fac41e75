import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { CONNECTORS } from '../services/card-processing/src/adapters/acquirers/connectors';
import { secondTranslation } from './support/second-acquirer/connector';
import type { SecondAcquirer } from './support/second-acquirer/server';
import { startSecondAcquirer } from './support/second-acquirer/server';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from './support/system';

const PASSWORD = 'the_password';
/** No published test card: those are declined in real currencies. */
const IN_EUR: Body = { currency: 'EUR', card_number: '4242424242424242' };

/** Of each acquirer, half of them of one account. */
const CALLS_AT_ONCE = 4;
const FEW_CALLS = { ACQUIRER_CALLS_AT_ONCE: String(CALLS_AT_ONCE) };

const DECLINED = 110_000;
const SILENT = 120_000;
const LOST = 130_000;

let acquirer: SecondAcquirer;
let system: System;

beforeAll(async () => {
  acquirer = await startSecondAcquirer({
    [DECLINED]: { kind: 'declines', reason: '51' },
    [SILENT]: { kind: 'silent' },
    [LOST]: { kind: 'lost' },
  });
  const settings = { ACQUIRERS: 'simulator,second', SECOND_URL: acquirer.url, SECOND_TIMEOUT_MS: '500', ...FEW_CALLS };
  system = await startSystem('second', { settings, connectors: { ...CONNECTORS, second: secondTranslation } });
  const { administration } = system.accounts;
  await administration.create({
    merchantAccount: 'two_banks',
    password: new Secret(PASSWORD),
    terminals: [{ currency: 'EUR', acquirer: 'second' }],
  });
  await administration.changeState('two_banks', 'activate');
});
afterAll(async () => {
  await system.stop();
  await acquirer.close();
});

async function send(fields: Body): Promise<Body> {
  const account = { merchant_account: 'two_banks', merchant_password: PASSWORD };
  return (await system.send({ ...fields, ...account })).data;
}

async function recordOf({ reference }: Body): Promise<CheckRecord | undefined> {
  return recordsOf(await send(checkOf({ reference })))[0];
}

const ordersOf = ({ reference }: Body) => acquirer.orders.filter(({ path }) => path.includes(String(reference)));

test('a payment and its refund go to the acquirer of the terminal, once and under their references', async () => {
  const sale = await send(cardRequest('SALE', IN_EUR));
  expect(sale).toMatchObject({ status: 'success', code: 0, authcode: 'S2' });
  const refund = await send(followUp('REFUND', sale['reference'], { currency: 'EUR' }));
  expect(refund).toMatchObject({ status: 'success', code: 0 });
  expect(ordersOf(sale).map(({ path }) => path)).toEqual([`/orders/${String(sale['reference'])}/sale`]);
  const [order] = ordersOf(refund);
  expect([order?.path, order?.form.get('original')]).toEqual([`/orders/${String(refund['reference'])}/refund`, 'T1']);
  expect(await system.ledger(String(sale['reference']))).toEqual([]);
});

test('the other acquirer still works beside it', async () => {
  const sale = await send(cardRequest('SALE'));
  expect(sale).toMatchObject({ code: 0 });
  expect(ordersOf(sale)).toEqual([]);
  expect(await system.ledger(String(sale['reference']))).toMatchObject([{ effect: 'sold' }]);
});

test('a decline gets the code of its reason', async () => {
  expect(await send(cardRequest('SALE', { ...IN_EUR, amount: '11.00' }))).toMatchObject({
    status: 'decline',
    code: 3101,
  });
});

test('silence is an unknown outcome, which an inquiry resolves', async () => {
  const sale = await send(cardRequest('SALE', { ...IN_EUR, amount: '12.00' }));
  expect(sale).toMatchObject({ status: 'error', code: 3109 });
  await until('the outcome is known', async () => (await recordOf(sale))?.status === 'SUCCESS');
  expect(ordersOf(sale)).toHaveLength(1);
});

test('without cancellation by key, an order that the acquirer does not know stays pending', async () => {
  const sale = await send(cardRequest('SALE', { ...IN_EUR, amount: '13.00' }));
  expect(sale).toMatchObject({ status: 'error', code: 3118 });
  const inquiries = () => acquirer.inquiries.filter((reference) => reference === sale['reference']).length;
  await until('it was asked for twice', () => inquiries() >= 2);
  expect(await recordOf(sale)).toMatchObject({ status: 'PENDING', code: 11 });
  expect(ordersOf(sale)).toHaveLength(1);
});

test('a simulator that hangs with all of its calls takes nothing from an acquirer of real money', async () => {
  const callsAtSimulator = async (): Promise<number> => {
    const figure = /gateway_outbound_in_use\{[^}]*counterpart="simulator"[^}]*lane="merchants"[^}]*\} (\d+)/;
    return Number(figure.exec((await system.metrics()).join('\n'))?.[1]);
  };
  const hanging = ['demo_merchant', 'demo_custom'].flatMap((merchant_account) =>
    Array.from({ length: CALLS_AT_ONCE }, () =>
      system.send(cardRequest('SALE', { merchant_account, amount: '31.09' })),
    ),
  );
  await until('no call is left', async () => (await callsAtSimulator()) === CALLS_AT_ONCE);
  for (let times = 0; times < 2 * CALLS_AT_ONCE; times += 1) {
    expect(await send(cardRequest('SALE', IN_EUR))).toMatchObject({ status: 'success', code: 0 });
  }
  expect(await callsAtSimulator()).toBe(CALLS_AT_ONCE);
  const codes = (await Promise.all(hanging)).map(({ data }) => data['code']);
  expect(codes.filter((code) => code === 3109)).toHaveLength(CALLS_AT_ONCE);
});
