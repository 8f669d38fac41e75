import { parseAmountE4 } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, payout } from './payout-fixture';

let world: World;

beforeAll(async () => {
  world = await openWorld('payout-rules');
  const maxE4 = parseAmountE4('35') ?? 0;
  await world.accounts.change(MERCHANT, { payoutRules: [{ kind: 'daily-amount', currency: 'XTS', maxE4 }] });
  await Promise.all([world.start(), world.start()]);
});
afterAll(() => world.close());

const ended = (reference: string) =>
  until(`${reference} ends`, async () => {
    const stored = await world.payouts.load(reference);
    return stored?.resolveAt === undefined ? stored?.state.kind : undefined;
  });

it('concurrent payouts cannot exceed a limit together; one without success releases its share', async () => {
  const declined = await world.send(payout('31.01'));
  expect(await ended(declined)).toBe('declined');
  const sent = await Promise.all(Array.from({ length: 10 }, () => world.send(payout('10'))));
  const ends = await Promise.all(sent.map(ended));
  expect(ends.filter((end) => end === 'settled')).toHaveLength(3);
  expect(ends.filter((end) => end === 'frauded')).toHaveLength(7);
  expect(world.bank.submissions.filter(({ body }) => body['amount'] === '10')).toHaveLength(3);
});
