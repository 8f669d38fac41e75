/**
 * `node scripts/test-kms.mjs`: holds moto's stand-in for AWS KMS for a test, and prints `{ url }`: see
 * {@link holdServers}.
 */
import { join } from 'node:path';
import { installPackages } from './install/python-packages.mjs';
import { answers, findFreePorts, until } from './servers/ports.mjs';
import { holdServers, newTestRunDirectory } from './test-run.mjs';

const READY_TIMEOUT_MS = 60_000;
const directory = newTestRunDirectory();

await holdServers(directory, async ({ processes, progress }) => {
  const packages = await installPackages('moto-5.1.22', 'moto-requirements.txt', { processes, progress });
  const [port = 0] = await findFreePorts(1);
  processes.launch('server', 'moto', {
    command: 'python3',
    args: ['-m', 'moto.server', '--host', '127.0.0.1', '--port', String(port)],
    env: { ...process.env, PYTHONPATH: packages },
  });
  await until(() => answers({ host: '127.0.0.1', port }), {
    timeoutMs: READY_TIMEOUT_MS,
    complaint: `moto has not come up on port ${port} within ${READY_TIMEOUT_MS / 1000} s: ${join(directory, 'moto.log')} says why.`,
  });
  return { url: `http://127.0.0.1:${port}` };
});
