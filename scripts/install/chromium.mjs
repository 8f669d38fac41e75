import { Failure } from '../failure.mjs';
import { findOnPath } from './programs.mjs';

const INSTALL_TIMEOUT_MS = 600_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The browser that tests the pages: the one of CHROMIUM_PATH, else one on the path, else one from the system's packages.
 * @param {{ processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} context
 * @returns {Promise<string>} its file
 */
export async function installChromium({ processes, progress }) {
  const found = process.env.CHROMIUM_PATH || findOnPath(NAMES);
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || findOnPath(['apt-get']) === undefined) {
    throw new Failure(
      'The tests of the pages need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM_PATH.',
    );
  }
  await progress.during('Chromium: apt-get install', async () => {
    for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'chromium']]) {
      await processes.run('chromium', {
        command: 'apt-get',
        args: ['--quiet', ...args],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        timeoutMs: INSTALL_TIMEOUT_MS,
      });
    }
  });
  const installed = findOnPath(NAMES);
  if (installed === undefined) throw new Failure('Chromium was installed and cannot be found: set CHROMIUM_PATH.');
  return installed;
}
