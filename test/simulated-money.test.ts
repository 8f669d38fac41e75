import { Secret } from '@gateway/contracts';
import type { Body, System } from './support/system';
import { cardRequest, followUp, startSystem } from './support/system';

const PASSWORD = 'the_password';
/** No published test card: those are declined in real currencies. */
const IN_EUR: Body = { currency: 'EUR', card_number: '4242424242424242' };
const ADDRESSES = { redirect_url: 'https://shop.test/back', callback_url: 'https://shop.test/callback' };
const FORBIDDEN = { ALLOW_SIMULATED_MONEY: 'no' };

let system: System;

beforeAll(async () => {
  system = await startSystem('money', { withoutProcessor: true });
});
afterAll(() => system.stop());

async function send(fields: Body): Promise<Body> {
  return (await system.send({ ...fields, merchant_account: 'euro_shop', merchant_password: PASSWORD })).data;
}

test('without ALLOW_SIMULATED_MONEY, nothing in a real currency reaches the simulator', async () => {
  const { administration } = system.accounts;
  const { account } = await administration.create({
    merchantAccount: 'euro_shop',
    password: new Secret(PASSWORD),
    terminals: [{ currency: 'EUR' }],
  });
  await administration.changeState('euro_shop', 'activate');
  const allowed = await system.startProcessor();
  const sale = await send(cardRequest('SALE', IN_EUR));
  expect(sale).toMatchObject({ status: 'success', code: 0 });
  await allowed.stop();

  await expect(system.startProcessor(FORBIDDEN)).rejects.toThrow(
    'The simulator takes XTS alone, but it is the acquirer of terminals of euro_shop in other currencies',
  );
  const terminals = account.terminals.filter(({ currency }) => currency === 'EUR').map((one) => one.midReference);
  await administration.change('euro_shop', { deactivateTerminals: terminals });
  await system.startProcessor(FORBIDDEN);

  // A terminal that appears while the service runs gets nothing either.
  await administration.change('euro_shop', { activateTerminals: terminals });
  const refused = [
    await send(cardRequest('SALE', IN_EUR)),
    await send(cardRequest('SALE3D', { ...IN_EUR, ...ADDRESSES })),
    await send(cardRequest('AUTH', { ...IN_EUR, mid_reference: terminals[0] })),
  ];
  expect(refused.map(({ status, code }) => [status, code])).toEqual([
    ['error', 2006],
    ['error', 2006],
    ['error', 2005],
  ]);
  // A payment from a time when that was allowed.
  const refund = await send(followUp('REFUND', sale['reference'], { currency: 'EUR' }));
  expect(refund).toMatchObject({ status: 'error', code: 3118 });
  for (const { reference } of [...refused, refund]) expect(await system.ledger(String(reference))).toEqual([]);

  expect(await send(cardRequest('SALE'))).toMatchObject({ status: 'success', code: 0 });
});
