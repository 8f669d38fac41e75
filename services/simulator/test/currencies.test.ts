import type { Simulator } from '../src/app';
import type { Client, PayoutClient } from './simulator-fixture';
import { clientOf, dropDatabase, newDatabasePrefix, newKey, payoutClientOf, startSimulator } from './simulator-fixture';
import type { BankClient } from './threeds-server-fixture';
import { authenticationRequest, bankClientOf } from './threeds-server-fixture';

const prefix = newDatabasePrefix();
let simulator: Simulator;
let acquirer: Client;
let bank: PayoutClient;
let directory: BankClient;

beforeAll(async () => {
  simulator = await startSimulator(prefix, { ALLOW_SIMULATED_MONEY: '' });
  acquirer = clientOf(simulator);
  bank = payoutClientOf(simulator);
  directory = bankClientOf(simulator);
});

afterAll(async () => {
  await simulator.stop();
  await dropDatabase(prefix);
});

const REFUSED = { status: 422, body: { error: 'the simulator takes XTS alone' } };
const server = { url: 'http://127.0.0.1:9' };

it.each(['EUR', 'USD', 'JPY'])('by default the simulator takes no %s, and keeps no trace of it', async (currency) => {
  const key = newKey();
  for (const operation of ['sale', 'authorize']) {
    expect(await acquirer.perform(operation, key, { currency })).toEqual(REFUSED);
  }
  expect(await bank.pay(key, { currency })).toEqual(REFUSED);
  expect(await acquirer.ledger(key)).toEqual([]);
  expect(await acquirer.inquire(key)).toEqual({ status: 'not_found' });
  expect((await acquirer.perform('sale', key)).body).toMatchObject({ result: 'approved' });
  expect((await bank.pay(key)).body).toMatchObject({ result: 'settled' });
});

it('by default the simulator authenticates no cardholder of a purchase in euros', async () => {
  const purchase = authenticationRequest(server, { purchaseCurrency: '978', purchaseExponent: '2' });
  expect(await directory.send(purchase)).toMatchObject({
    status: 400,
    body: { messageType: 'Erro', errorCode: '305', errorDescription: 'purchaseCurrency is not 963' },
  });
  expect(await directory.send(authenticationRequest(server))).toMatchObject({ body: { transStatus: 'C' } });
});
