import { until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { SALE, startEdgeFixture } from './edge-fixture';

const CARDS = '/api/pf/host-to-host';

let edge: EdgeFixture;
beforeAll(async () => {
  edge = await startEdgeFixture('edge-turns', { REPLY_TIMEOUT_MS: '20000' });
});
afterAll(() => edge.close());

async function sale(id: string): Promise<string> {
  const { reference } = await edge.merchant(CARDS, { ...SALE, transaction_unique_id: id });
  return String(reference);
}

const refund = (reference: string, id: string) =>
  edge.merchant(CARDS, {
    transaction_type: 'REFUND',
    transaction_unique_id: id,
    reference,
    amount: '1.00',
    currency: 'XTS',
  });

const refunds = () => edge.owner.commands.filter(({ type }) => type === 'RefundCharge');

test('a merchant that sends many requests about one payment holds up that payment only', async () => {
  const [busy, other] = [await sale('sale-of-busy'), await sale('sale-of-other')];
  edge.owner.answers = Array.from({ length: 16 }, () => 'silence' as const);
  const answers = Promise.all(Array.from({ length: 24 }, (_, n) => refund(busy, `refund-busy-${n}`)));
  await until('the first ones are with the owner', () => refunds().length === 16);
  expect(await refund(other, 'refund-other')).toMatchObject({ code: 0 });
  expect(refunds()).toHaveLength(17);
  // The owner knows their outcomes now: the edge asks, and the next ones take their turns.
  for (const { data } of refunds().slice(0, 16)) {
    edge.owner.outcomes.set(data.reference, { ...edge.owner.outcomes.get(busy), ...data, code: 0 } as never);
  }
  expect((await answers).map(({ code }) => code)).toEqual(Array.from({ length: 24 }, () => 0));
  expect(refunds()).toHaveLength(25);
});
