/** `node scripts/test-chart.mjs`: prints the {@link ChartTools} of the tests of the Helm chart, or `{ failure }`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from './failure.mjs';
import { installChartTools } from './install/chart-tools.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';

const logDirectory = mkdtempSync(join(tmpdir(), 'payment-gateway-chart-'));
const progress = createProgress(process.stderr);

try {
  const tools = await supervise({ recordFile: join(logDirectory, 'processes.json'), logDirectory }, (processes) =>
    installChartTools({ processes, progress }),
  );
  process.stdout.write(`${JSON.stringify(tools)}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: explain(error) })}\n`);
  process.exitCode = 1;
} finally {
  rmSync(logDirectory, { recursive: true, force: true });
}
