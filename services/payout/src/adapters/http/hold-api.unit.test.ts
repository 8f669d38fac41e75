import { createInternalApi, createMetrics, listen, openInternalAccess } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { runCli } from '../../cli';
import { holdRoutes } from './hold-api';

type Ports = Parameters<typeof holdRoutes>[0];

test('a hold whose payouts cannot be counted is reported as held', async () => {
  const audited: unknown[] = [];
  const ports = {
    holds: { hold: async () => 'held' },
    payouts: { countOpen: () => Promise.reject(new Error('operation exceeded time limit')) },
    audit: {
      async record(_entry: unknown, work: () => Promise<unknown>, summary: (done: unknown) => unknown) {
        const done = await work();
        audited.push(summary(done));
        return done;
      },
    },
    logger: silentLogger,
  } as unknown as Ports;
  const metrics = createMetrics('payout', { processFigures: false });
  const access = openInternalAccess({ INTERNAL_HOST: '127.0.0.1' }, { logger: silentLogger, metrics });
  const listener = createInternalApi({ routes: [holdRoutes(ports)], access, logger: silentLogger });
  const { port, close } = await listen({ listener, port: 0, host: '127.0.0.1' });
  const lines: string[] = [];
  const env = { PAYOUT_QUERY_URL: `http://127.0.0.1:${port}` };
  const exitCode = await runCli(['hold', '--all'], env, (line) => lines.push(line)).finally(() => close(0));
  expect(exitCode).toBe(0);
  expect(lines).toEqual([
    'all: held',
    'its payouts could not be counted; "list --state submitting" and "--state unknown" show those on their way',
  ]);
  expect(audited).toEqual([{ result: 'held' }]);
});
