/** `npm start`: everything from a clone to a running gateway. Runs on the system's Node, before anything is installed. */
import { join } from 'node:path';
import { environmentFile, logDirectory, projectNode, root, stateDirectory } from './checkout.mjs';
import { explain, StopRequested } from './failure.mjs';
import { firstSale } from './gateway/first-sale.mjs';
import { writePrivateFile } from './gateway/private-file.mjs';
import { developmentSecrets } from './gateway/secrets.mjs';
import { startServices } from './gateway/services.mjs';
import { baseUrl, gatewayEnvironment, gatewayPorts, portUses } from './gateway/settings.mjs';
import { installDependencies } from './install/dependencies.mjs';
import { requireNode } from './install/prerequisites.mjs';
import { stopLeftovers } from './processes/child-processes.mjs';
import { becomeOnlyInstance } from './processes/single-instance.mjs';
import { supervise } from './processes/supervise.mjs';
import { createProgress } from './progress.mjs';
import { DockerServers } from './servers/docker-servers.mjs';
import { requireFreePorts } from './servers/ports.mjs';
import { provideServers } from './servers/provide-servers.mjs';

const BUILD_TIMEOUT_MS = 600_000;
const PREPARE_TIMEOUT_MS = 120_000;

/** @typedef {import('./processes/child-processes.mjs').ChildProcesses} ChildProcesses */

const recordFile = join(stateDirectory, 'processes.json');
const progress = createProgress(process.stdout);
let ready = false;

async function start() {
  requireNode();
  const ports = gatewayPorts(process.env);
  const release = becomeOnlyInstance(join(stateDirectory, 'start.lock'));
  try {
    const leftovers = await stopLeftovers(recordFile);
    if (leftovers.length > 0) progress.note(`Stopped what a killed start had left running: ${leftovers.join(', ')}`);
    await requireFreePorts(portUses(process.env, ports));
    const onStopping = () => progress.note('Stopping services and servers …');
    await supervise({ recordFile, logDirectory, onStopping }, (processes) => bringUp(processes, ports));
  } finally {
    release();
  }
}

/**
 * @param {ChildProcesses} processes
 * @param {ReturnType<typeof gatewayPorts>} ports
 */
async function bringUp(processes, ports) {
  const installed = installDependencies({ processes, progress });
  const context = {
    directory: stateDirectory,
    logDirectory,
    ports: { kafka: ports.KAFKA_PORT, kafkaController: ports.KAFKA_PORT + 1, mongodb: ports.MONGODB_PORT },
    processes,
    progress,
    installed,
  };
  const [servers] = await Promise.all([
    provideServers(process.env, context, () => new DockerServers(context)),
    installed.then(() => build(processes)),
  ]);
  const environment = gatewayEnvironment({ env: process.env, ports, servers, secrets: developmentSecrets() });
  writePrivateFile(environmentFile, environment);
  await prepare(processes, environment);
  await startServices({ environment, opsPort: ports.OPS_PORT, processes, progress });
  ready = true;
  const url = baseUrl(process.env, ports);
  process.stdout.write(`\nA first SALE to try:\n\n${firstSale(url)}\n\nGateway ready on ${url}\n`);
  await new Promise(() => undefined);
}

/** @param {ChildProcesses} processes */
async function build(processes) {
  await progress.during('Build', () =>
    processes.run('build', { command: 'npm', args: ['run', 'build'], timeoutMs: BUILD_TIMEOUT_MS }),
  );
}

/**
 * What must be there before the first service starts: topics and the demo accounts.
 * @param {ChildProcesses} processes
 * @param {Record<string, string>} environment
 */
async function prepare(processes, environment) {
  const run = (/** @type {string} */ name, /** @type {string} */ script) =>
    processes.run(name, {
      command: projectNode,
      args: [join(root, script)],
      env: { ...process.env, ...environment },
      timeoutMs: PREPARE_TIMEOUT_MS,
    });
  await Promise.all([
    progress.during('Topics', () => run('create-topics', 'libs/messaging/dist/create-topics.js')),
    progress.during('Demo accounts', () => run('seed-demo', 'libs/accounts/dist/seed-demo.js')),
  ]);
}

// When whoever reads the progress goes away (a closed pipe), the system goes on.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

let exitCode = 0;
try {
  await start();
} catch (error) {
  if (error instanceof StopRequested) {
    progress.note('Stopped');
    exitCode = ready ? 0 : error.exitCode;
  } else {
    console.error(explain(error));
    exitCode = 1;
  }
}
process.exit(exitCode);
