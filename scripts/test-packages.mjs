/**
 * `node scripts/test-packages.mjs NAME`: installs Python packages for a test, and prints `{ packages }`, their folder for
 * PYTHONPATH, or `{ failure }`. NAME has the version in it, and `install/` the requirements of the name before that.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from './failure.mjs';
import { installPackages } from './install/python-packages.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';

const [name = ''] = process.argv.slice(2);
const requirements = `${name.replace(/-[\d.]+$/, '')}-requirements.txt`;
const logDirectory = mkdtempSync(join(tmpdir(), 'payment-gateway-packages-'));
const progress = createProgress(process.stderr);

try {
  const packages = await supervise({ recordFile: join(logDirectory, 'processes.json'), logDirectory }, (processes) =>
    installPackages(name, requirements, { processes, progress }),
  );
  process.stdout.write(`${JSON.stringify({ packages })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: explain(error) })}\n`);
  process.exitCode = 1;
} finally {
  rmSync(logDirectory, { recursive: true, force: true });
}
