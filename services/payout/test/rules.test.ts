import { randomUUID } from 'node:crypto';
import { parseAmountE4 } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, OTHER_MERCHANT, payout } from './payout-fixture';

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

it('parallel payouts to a receiver who is not known yet share its limit, and a settled cent changes nothing', async () => {
  const rule = { kind: 'first-time-receiver', currency: 'XTS', maxE4: parseAmountE4('5') ?? 0 } as const;
  const daily = { kind: 'daily-amount', currency: 'XTS', maxE4: parseAmountE4('1000') ?? 0 } as const;
  await world.accounts.change(OTHER_MERCHANT, { payoutRules: [daily, rule] });
  const to = (receiver: string, amount: string, acceptedAt = Date.now()) =>
    world.send(payout(amount, { merchantAccount: OTHER_MERCHANT, token: receiver, acceptedAt }));
  const receiver = randomUUID();
  expect(await ended(await to(receiver, '0.01'))).toBe('settled');
  const ends = await Promise.all((await Promise.all(Array.from({ length: 20 }, () => to(receiver, '1')))).map(ended));
  expect(ends.filter((end) => end === 'settled')).toHaveLength(4);
  expect(ends.filter((end) => end === 'frauded')).toHaveLength(16);

  const old = randomUUID();
  const aWeekAgo = Date.now() - 7 * 86_400_000 - 1_000;
  expect(await ended(await to(old, '2.50', aWeekAgo))).toBe('settled');
  expect(await ended(await to(old, '50'))).toBe('settled');
});
