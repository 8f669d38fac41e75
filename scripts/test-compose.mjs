/**
 * `npm run test:compose [-- development|scale|cluster|production] [--built] [jest's arguments]`: builds the images, brings
 * the composed system up under a name and on ports of its own, runs the end-to-end tests and those of test/compose against
 * it, and takes everything down. Without a name, all systems, one after the other. With --built it takes the images that
 * are there. Needs a Docker engine.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectNode, root } from './checkout.mjs';
import { MERCHANT, merchantFiles, overlay } from './compose/merchant.mjs';
import { trialSecrets, writeSecrets } from './compose/trial-secrets.mjs';
import { exitCodeOf, explain, Failure, StopRequested } from './failure.mjs';
import { installDependencies } from './install/dependencies.mjs';
import { requireNode } from './install/prerequisites.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';
import { findLastingPorts } from './servers/ports.mjs';

const BUILT = '--built';
const ASK_TIMEOUT_MS = 10_000;
const COMPILE_TIMEOUT_MS = 300_000;
const BUILD_TIMEOUT_MS = 1_200_000;
const UP_TIMEOUT_MS = 480_000;
const DOWN_TIMEOUT_MS = 120_000;

/** @typedef {import('./processes/child-processes.mjs').ChildProcesses} ChildProcesses */

/**
 * @typedef {object} ComposedSystem
 * @property {string[]} files
 * @property {string[]} options of Compose, as an operator gives them
 * @property {string[]} dispatchers containers that send callbacks
 * @property {'http' | 'https'} scheme
 */

/** @type {ComposedSystem} */
const development = {
  files: ['docker-compose.yml'],
  options: [],
  dispatchers: ['callback-dispatcher', 'callback-dispatcher-2'],
  scheme: 'http',
};

/** @type {Record<string, ComposedSystem>} */
const systems = {
  development,
  scale: { ...development, options: ['--profile', 'scale'] },
  cluster: { ...development, options: ['--env-file', join(root, 'deploy/compose/cluster.env')] },
  production: {
    files: ['deploy/compose/production.yml', 'deploy/compose/sandbox.yml'],
    options: [],
    dispatchers: ['callback-dispatcher'],
    scheme: 'https',
  },
};

const progress = createProgress(process.stderr);

/** @param {string} name of a system */
function directoryOf(name) {
  return mkdtempSync(join(tmpdir(), `payment-gateway-compose-${name}-`));
}

/**
 * Compose v2, or 1.29.
 * @param {ChildProcesses} processes
 * @returns {Promise<string[]>} the command
 */
async function composeCommand(processes) {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command;
    if ((await processes.ask(program, [...args, 'version'], ASK_TIMEOUT_MS)) !== undefined) return command;
  }
  throw new Failure('Docker Compose is missing: install docker-compose 1.29 or later.');
}

/**
 * Files and variables of a system, as its Compose files and the tests want them.
 * @param {string} name
 * @param {string} directory
 */
async function settingsOf(name, directory) {
  const { files, dispatchers, scheme } = systems[name] ?? development;
  const [api = 0, threeds = 0, simulator = 0, reference = 0] = await findLastingPorts(4);
  const secrets = join(directory, 'secrets');
  const trial = await trialSecrets([]);
  writeSecrets(secrets, trial);
  const merchant = await merchantFiles({ cert: trial['ca/ca.pem'] ?? '', key: trial['ca.key'] ?? '' });
  for (const [file, content] of Object.entries(merchant)) writeFileSync(join(directory, file), content);
  const overlayFile = join(directory, 'overlay.yml');
  writeFileSync(overlayFile, overlay(dispatchers, join(secrets, 'ca', 'ca.pem')));
  const urlOf = (/** @type {number} */ port) => `${scheme}://localhost:${port}`;
  const npmRegistry = process.env.npm_config_registry;
  return {
    name,
    project: `gateway-test-${randomBytes(4).toString('hex')}`,
    files: [...files.map((file) => join(root, file)), overlayFile],
    directory,
    merchant: MERCHANT,
    urls: { api: urlOf(api), threeds: urlOf(threeds), simulator: urlOf(simulator) },
    environment: {
      PORT: String(api),
      THREEDS_PORT: String(threeds),
      SIMULATOR_PORT: String(simulator),
      REFERENCE_PORT: String(reference),
      ADDRESS: '127.0.0.1',
      SECRETS: secrets,
      ISO20022: join(secrets, 'iso20022'),
      ISO20022_INITIATING_PARTY: 'Trial',
      PUBLIC_BASE_URL: urlOf(api),
      THREEDS_PUBLIC_URL: urlOf(threeds),
      SIMULATOR_PUBLIC_URL: urlOf(simulator),
      COMPOSE_IGNORE_ORPHANS: 'true',
      ...(npmRegistry === undefined ? {} : { npm_config_registry: npmRegistry }),
    },
  };
}

/**
 * @param {string} name of the system
 * @param {string[]} args for jest
 * @returns {Promise<number>} jest's exit code
 */
async function testSystem(name, args) {
  const directory = directoryOf(name);
  const logs = { recordFile: join(directory, 'processes.json'), logDirectory: directory };
  let takeDown = () => {};
  try {
    return await supervise(logs, async (processes) => {
      await installDependencies({ processes, progress });
      // The secrets are made by our libraries.
      const build = { command: 'npm', args: ['run', 'build'], timeoutMs: COMPILE_TIMEOUT_MS };
      await progress.during('Build', () => processes.run('build', build));
      const command = [...(await composeCommand(processes)), ...(systems[name] ?? development).options];
      const composed = { ...(await settingsOf(name, directory)), command };
      const [program = '', ...first] = command;
      const given = [...first, '-p', composed.project, ...composed.files.flatMap((file) => ['-f', file])];
      const env = { ...process.env, ...composed.environment };
      const compose = (/** @type {number} */ timeoutMs, /** @type {string[]} */ ...task) =>
        processes.run(`compose-${task[0]}`, { command: program, args: [...given, ...task], env, timeoutMs });
      if (!args.includes(BUILT)) {
        await progress.during(`Images of the ${name} system`, () => compose(BUILD_TIMEOUT_MS, 'build'));
      }
      takeDown = () => {
        progress.note('Containers away …');
        const { status } = spawnSync(program, [...given, 'down', '-v'], { env, timeout: DOWN_TIMEOUT_MS });
        if (status !== 0) progress.note(`Containers of ${composed.project} are left.`);
      };
      await progress.during('Containers', () => compose(UP_TIMEOUT_MS, 'up', '-d'));
      return await runJest(
        composed,
        args.filter((argument) => argument !== BUILT),
      );
    });
  } finally {
    // Also after a signal, when nothing can be started under supervision any more.
    takeDown();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {{ environment: { SECRETS: string } }} composed all that the tests know of the system
 * @param {string[]} args
 * @returns {Promise<number>}
 */
function runJest(composed, args) {
  const jest = spawn(
    projectNode,
    [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--config', 'jest.compose.cjs', ...args],
    {
      cwd: root,
      env: {
        ...process.env,
        COMPOSED: JSON.stringify(composed),
        // Node reads it when it starts; every certificate of the system is from this authority.
        NODE_EXTRA_CA_CERTS: join(composed.environment.SECRETS, 'ca', 'ca.pem'),
      },
      stdio: 'inherit',
    },
  );
  return new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal ?? 'SIGTERM')));
  });
}

try {
  requireNode();
  const [first = '', ...rest] = process.argv.slice(2);
  const named = first in systems;
  const args = named || first === '' ? rest : [first, ...rest];
  for (const name of named ? [first] : Object.keys(systems)) {
    process.exitCode = (await testSystem(name, args)) || process.exitCode;
  }
} catch (error) {
  console.error(explain(error));
  process.exitCode = error instanceof StopRequested ? error.exitCode : 1;
}
