/**
 * `npm test [-- jest's arguments]`: the whole test suite, from a fresh clone on. Jest's global set-up brings servers. With
 * `--long`, tests that wait for real time do.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectNode, root, stateDirectory } from './checkout.mjs';
import { exitCodeOf, explain, StopRequested } from './failure.mjs';
import { installChromium } from './install/chromium.mjs';
import { installDependencies } from './install/dependencies.mjs';
import { requireNode } from './install/prerequisites.mjs';
import { watchLauncher } from './processes/launcher.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';
import { until } from './servers/ports.mjs';
import { newTestRunDirectory } from './test-run.mjs';

const LONG = '--long';
const SERVERS_STOP_TIMEOUT_MS = 60_000;
/** Tests start hundreds of processes of a few programs. With it, Node compiles each of their files once. */
const COMPILE_CACHE = join(stateDirectory, 'compile-cache');

const progress = createProgress(process.stderr);

/** @returns {Promise<string>} the browser's file */
async function install() {
  const logDirectory = mkdtempSync(join(tmpdir(), 'payment-gateway-install-'));
  const recordFile = join(logDirectory, 'processes.json');
  try {
    return await supervise({ recordFile, logDirectory }, async (processes) => {
      await installDependencies({ processes, progress });
      return installChromium({ processes, progress });
    });
  } finally {
    rmSync(logDirectory, { recursive: true });
  }
}

/**
 * @param {string[]} args
 * @param {{ runDirectory: string, chromium: string }} environment
 * @returns {Promise<number>} jest's exit code
 */
function runJest(args, { runDirectory, chromium }) {
  // Jest ends by a signal without ending its workers, so where it has no terminal to talk to it gets a process group of
  // its own, and the signal goes to the group. At a terminal, Ctrl-C reaches them all anyway.
  const ownGroup = !process.stdin.isTTY;
  const jest = spawn(
    projectNode,
    [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), ...args.filter((arg) => arg !== LONG)],
    {
      cwd: root,
      env: {
        ...process.env,
        TEST_RUN_DIRECTORY: runDirectory,
        TEST_LONG: args.includes(LONG) ? 'yes' : 'no',
        CHROMIUM_PATH: chromium,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
      },
      stdio: 'inherit',
      detached: ownGroup,
    },
  );
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => jest.pid !== undefined && process.kill(ownGroup ? -jest.pid : jest.pid, signal);
  for (const signal of StopRequested.signals) process.on(signal, pass);
  watchLauncher(() => pass('SIGTERM'));
  return new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal ?? 'SIGTERM')));
  });
}

/** @param {string} runDirectory */
async function serversHaveStopped(runDirectory) {
  await until(async () => !existsSync(runDirectory), {
    timeoutMs: SERVERS_STOP_TIMEOUT_MS,
    complaint: `The test servers have not stopped within ${SERVERS_STOP_TIMEOUT_MS / 1000} s: see the processes named in ${runDirectory}.`,
  });
}

try {
  requireNode();
  const chromium = await install();
  const runDirectory = newTestRunDirectory();
  process.exitCode = await runJest(process.argv.slice(2), { runDirectory, chromium });
  await serversHaveStopped(runDirectory);
} catch (error) {
  console.error(explain(error));
  process.exitCode = error instanceof StopRequested ? error.exitCode : 1;
}
