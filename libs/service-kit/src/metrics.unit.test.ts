import hooks from 'node:perf_hooks';
import { Counter } from 'prom-client';
import { createMetrics, fromZero } from './metrics';

test('a counter shows all combinations of its label values before it counts', async () => {
  const metrics = createMetrics('test', { processFigures: false });
  const counter = new Counter({ name: 'calls', help: 'Calls', labelNames: ['kind', 'end'], registers: [metrics] });
  fromZero(counter, { kind: ['card', 'payout'], end: ['done', 'failed'] }).inc({ kind: 'card', end: 'done' });
  const series = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('calls{'));
  expect(series).toEqual([
    'calls{kind="card",end="done",service="test"} 1',
    'calls{kind="card",end="failed",service="test"} 0',
    'calls{kind="payout",end="done",service="test"} 0',
    'calls{kind="payout",end="failed",service="test"} 0',
  ]);
});

test('the metrics of the process include the delay of its event loop', async () => {
  const served = await createMetrics('test', { processFigures: true }).metrics();
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_cpu_seconds_total', 'nodejs_gc_duration_seconds'])
    expect(served).toContain(`# TYPE ${name} `);
});

test('an idle process is not woken more than 20 times a second to sample that delay', () => {
  const monitor = jest.spyOn(hooks, 'monitorEventLoopDelay');
  createMetrics('test', { processFigures: true });
  expect(monitor.mock.calls).toEqual([[{ resolution: 50 }]]);
  monitor.mockRestore();
});
