/**
 * `node scripts/test-kms.mjs`: holds moto's stand-in for AWS KMS for a test, and prints `{ url }`: see
 * {@link holdServers}.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached } from './install/download-cache.mjs';
import { answers, findFreePorts, until } from './servers/ports.mjs';
import { holdServers, newTestRunDirectory } from './test-run.mjs';

const MOTO = 'moto-5.1.22';
const REQUIREMENTS = fileURLToPath(new URL('install/moto-requirements.txt', import.meta.url));
/** pip unpacks what it has checked, and writes byte code beside it: afterwards there are no sums to compare. */
const checkedByPip = () => undefined;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const READY_TIMEOUT_MS = 60_000;
const directory = newTestRunDirectory();

await holdServers(directory, async ({ processes, progress }) => {
  const download = (/** @type {string} */ folder) =>
    progress.during('moto: download with pip', () =>
      processes.run('moto-download', {
        command: 'python3',
        args: [
          '-m',
          'pip',
          'install',
          '--quiet',
          '--target',
          folder,
          '--require-hashes',
          '--requirement',
          REQUIREMENTS,
        ],
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
      }),
    );
  const packages = await cached(MOTO, download, checkedByPip);
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
