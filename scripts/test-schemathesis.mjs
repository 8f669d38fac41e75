/** `node scripts/test-schemathesis.mjs`: prints `{ packages }`, the folder of Schemathesis for PYTHONPATH, or `{ failure }`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from './failure.mjs';
import { installPackages } from './install/python-packages.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';

const logDirectory = mkdtempSync(join(tmpdir(), 'payment-gateway-schemathesis-'));
const progress = createProgress(process.stderr);

try {
  const packages = await supervise({ recordFile: join(logDirectory, 'processes.json'), logDirectory }, (processes) =>
    installPackages('schemathesis-4.32.5', 'schemathesis-requirements.txt', { processes, progress }),
  );
  process.stdout.write(`${JSON.stringify({ packages })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: explain(error) })}\n`);
  process.exitCode = 1;
} finally {
  rmSync(logDirectory, { recursive: true, force: true });
}
