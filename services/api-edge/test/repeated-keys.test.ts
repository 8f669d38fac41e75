import { until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { CREDENTIALS, SALE, startEdgeFixture } from './edge-fixture';

const CARDS = '/api/pf/host-to-host';

let edge: EdgeFixture;
beforeAll(async () => {
  edge = await startEdgeFixture('edge-keys');
});
afterAll(() => edge.close());

async function sale(key: string) {
  const fields = { ...CREDENTIALS, ...SALE, transaction_unique_id: `order-${key}` };
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const { status, headers: told, text } = await edge.request('POST', CARDS, JSON.stringify(fields), headers);
  const { code, reference } = JSON.parse(text) as { code: number; reference?: string };
  return { status, code, reference, replayed: told['idempotency-replayed'] };
}

const commandsFor = (key: string) =>
  edge.owner.commands.filter(({ data }) => data.transactionUniqueId === `order-${key}`);

test('while the owner is silent, a repetition that waits beyond the deadline of its request gets 11', async () => {
  edge.owner.answers = ['silence'];
  const first = sale('silent');
  await until('the command', () => commandsFor('silent').length === 1);
  const second = sale('silent');
  const { reference } = await first;
  expect(await first).toEqual({ status: 200, code: 11, reference: expect.any(String) as string, replayed: undefined });
  expect(await second).toEqual({ status: 200, code: 11, reference, replayed: 'true' });
  expect(await sale('silent')).toEqual({ status: 200, code: 11, reference, replayed: 'true' });
});

test('a charge whose answer was never kept is reported to a repetition, however late it comes', async () => {
  const { reference } = await sale('killed');
  const entries = edge.mongo.collection<{ _id: string; state: string; response?: object }>('journal');
  const entry = { _id: String(reference) };
  await until('the entry is closed', async () => (await entries.findOne(entry))?.state === 'closed');
  await entries.updateOne(entry, { $unset: { response: '' } });
  edge.pass(60_000);
  const told = { status: 200, code: 0, reference, replayed: 'true' };
  expect(await sale('killed')).toEqual(told);
  expect(await sale('killed')).toEqual(told);
  expect(commandsFor('killed')).toHaveLength(1);
});
