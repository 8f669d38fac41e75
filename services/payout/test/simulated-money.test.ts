import type { Clock, MongoConnection } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import { recordingLogger } from '@gateway/testing';
import type { OpenBank } from '../src/adapters/banks/bank-context';
import { instruction } from '../src/adapters/banks/iso20022/iso20022.fixture';
import { createSimulatorConnector } from '../src/adapters/banks/simulator/connector';
import type { HoldsAdapter } from '../src/adapters/mongo/holds';
import type { Bank } from './bank';
import { startBank } from './bank';

let bank: Bank;
let connector: OpenBank;
const lines: string[] = [];

beforeAll(async () => {
  bank = await startBank();
  connector = createSimulatorConnector({
    env: { SIMULATOR_URL: bank.url },
    simulatedMoney: 'no',
    mongo: {} as MongoConnection,
    callsAtOnce: 4,
    logger: recordingLogger(lines),
    metrics: createMetrics('payout', { processFigures: false }),
    clock: {} as Clock,
    holds: {} as HoldsAdapter,
    accounts: { findLatest: () => Promise.resolve(undefined) },
  });
});
afterAll(async () => {
  await connector.stop();
  await bank.close();
});

test('a stored payout in EUR is not sent to the simulator once that is forbidden', async () => {
  const place = connector.placeForNew('merchant_de');
  expect(await connector.submit(instruction('in-euros'), { place })).toEqual({ kind: 'not-sent' });
  expect(bank.submissions).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('in-euros')]);
  const placeAgain = connector.placeForNew('merchant_de');
  expect(placeAgain).toBeDefined();
  const inXts = instruction('in-xts', { currency: 'XTS', amountE4: 100_000 });
  expect(await connector.submit(inXts, { place: placeAgain })).toMatchObject({ kind: 'settled' });
  expect(bank.submissions.map(({ key }) => key)).toEqual(['in-xts']);
});
