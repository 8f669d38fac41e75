import { createMetrics } from './metrics';
import { createTopGauge } from './top-gauge';

test('shows the highest values, sums the others, and drops keys that are gone', async () => {
  const metrics = createMetrics('test', { processFigures: false });
  let slots = new Map([
    ['quiet', 1],
    ['loud', 9],
    ['silent', 2],
    ['busy', 5],
  ]);
  createTopGauge(metrics, { name: 'slots', help: 'Slots', label: 'account', top: 2, read: () => slots });
  const shown = async () =>
    [...(await metrics.metrics()).matchAll(/account="(\w+)".* (\d+)$/gm)].map((m) => m.slice(1));
  expect(await shown()).toEqual([
    ['loud', '9'],
    ['busy', '5'],
    ['other', '3'],
  ]);
  slots = new Map([['quiet', 1]]);
  expect(await shown()).toEqual([
    ['quiet', '1'],
    ['other', '0'],
  ]);
});
