import type { Deployment } from '../check';
import type { Replica } from '../replicas';
import { clocksCheck } from './clocks';

const replica = (skew: number | undefined): Replica => ({
  service: 'payout',
  name: 'payout at 10.0.0.7:9105',
  failing: [],
  metric: () => skew,
});

const examine = (...skews: (number | undefined)[]) =>
  clocksCheck.examine({ replicas: skews.map(replica) } as unknown as Deployment);

test('a clock that no replica measures is not said to be right', async () => {
  expect(await examine()).toEqual({ faults: [], fine: 'no replica was measured' });
  expect(await examine(undefined)).toEqual({ faults: [], fine: 'no replica was measured' });
});

test('what is measured is compared', async () => {
  expect(await examine(undefined, -0.25)).toEqual({ faults: [], fine: 'off by 0.250 s at most' });
  expect((await examine(1.5)).faults).toEqual([
    "The clock of payout at 10.0.0.7:9105 is 1.5 s ahead of MongoDB's: repair its time synchronization.",
  ]);
});
