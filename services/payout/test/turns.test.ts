import { until } from '@gateway/testing';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, OTHER_MERCHANT, payout } from './payout-fixture';

/** The bank accepts these and never answers. */
const UNANSWERED = '31.09';
const PAYOUTS = 100;
/** Half of the calls are for new payouts, half for waiting ones. An account gets half of each. */
const CALLS_AT_ONCE = 16;
const SHARE = CALLS_AT_ONCE / 2;
const TIMEOUT_MS = 60_000;
const LEASE_MS = 2 * TIMEOUT_MS;

let world: World;
beforeAll(async () => {
  world = await openWorld('payout-turns');
});
afterAll(() => world.close());

const countOf = (kind: string) =>
  world.mongo.collection('payouts').countDocuments({ merchantAccount: MERCHANT, 'state.kind': kind });

test('unanswered payouts wait in turn while another account’s payout settles', async () => {
  await world.start({ SIMULATOR_TIMEOUT_MS: String(TIMEOUT_MS), BANK_CALLS_AT_ONCE: String(CALLS_AT_ONCE) });
  const commands = Array.from({ length: PAYOUTS }, () => payout(UNANSWERED));
  await Promise.all(commands.map((command) => world.send(command)));
  await until('the share of the account hangs, and the rest waits', async () => {
    const [hanging, waiting] = await Promise.all([countOf('submitting'), countOf('screened')]);
    return hanging === SHARE && waiting === PAYOUTS - SHARE;
  });

  const other = await world.send(payout('10.50', { merchantAccount: OTHER_MERCHANT }));
  await world.isIn(other, 'settled');
  // No payout of the first account has settled meanwhile.
  expect(await countOf('screened')).toBe(PAYOUTS - SHARE);
  expect(world.bank.submissions).toHaveLength(SHARE + 1);

  await world.stopServices();
  await world.start();
  world.pass(LEASE_MS);
  for (const { reference } of commands) await world.isIn(reference, 'settled');
  for (const { reference } of commands) expect(world.bank.submissionsOf(reference)).toBe(1);
});
