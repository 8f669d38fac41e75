/**
 * `npm start`: everything from a clone to a running gateway. Runs on the system's Node, before anything is installed.
 * `npm run cluster` is the same with `--cluster`: on three brokers and a replica set of three.
 */
import { join } from 'node:path';
import { environmentFile, logDirectory, projectNode, root, stateDirectory } from './checkout.mjs';
import { explain, Failure, StopRequested } from './failure.mjs';
import { firstSale } from './gateway/first-sale.mjs';
import { developmentIdentities } from './gateway/identities.mjs';
import { writePrivateFile } from './gateway/private-file.mjs';
import { developmentSecrets, withOwnSecrets } from './gateway/secrets.mjs';
import { startServices } from './gateway/services.mjs';
import { baseUrl, gatewayEnvironment, gatewayPorts, portUses, serverPorts } from './gateway/settings.mjs';
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

/**
 * @typedef {import('./processes/child-processes.mjs').ChildProcesses} ChildProcesses
 * @typedef {import('./servers/provide-servers.mjs').ServerContext} ServerContext
 */

const recordFile = join(stateDirectory, 'processes.json');
const clusterDirectory = join(stateDirectory, 'cluster');
const progress = createProgress(process.stdout);
let ready = false;
/** @type {unknown} */
let reported;

async function start() {
  requireNode();
  const onCluster = clusterIsWanted(process.argv.slice(2));
  const ports = gatewayPorts(process.env);
  const servers = serverPorts(ports, onCluster ? 3 : 1);
  const release = becomeOnlyInstance(join(stateDirectory, 'start.lock'));
  try {
    const leftovers = await stopLeftovers(recordFile);
    if (leftovers.length > 0) progress.note(`Stopped what a killed start had left running: ${leftovers.join(', ')}`);
    await requireFreePorts(portUses(process.env, ports, servers));
    const secrets = developmentSecrets();
    const onStopping = (/** @type {unknown} */ reason) => {
      report(reason);
      progress.note('Stopping services and servers …');
    };
    await supervise({ recordFile, logDirectory, onStopping }, (processes) =>
      bringUp({ processes, ports, servers, onCluster, secrets }),
    );
  } finally {
    release();
  }
}

/** @param {string[]} args */
function clusterIsWanted(args) {
  const unknown = args.find((argument) => argument !== '--cluster');
  if (unknown === undefined) return args.length > 0;
  throw new Failure(`Unknown option ${unknown}. Use npm start or npm run cluster.`);
}

/**
 * @param {{ processes: ChildProcesses, ports: ReturnType<typeof gatewayPorts>, servers: ServerContext['ports'], onCluster: boolean, secrets: Record<string, string> }} parts
 */
async function bringUp({ processes, ports, servers: wanted, onCluster, secrets }) {
  const installed = installDependencies({ processes, progress });
  /** @type {ServerContext} */
  const context = {
    directory: onCluster ? clusterDirectory : stateDirectory,
    logDirectory,
    ports: wanted,
    // The run needs a single server, but a cluster continues while one member restarts.
    launch: ({ name, program, serves }) =>
      onCluster
        ? processes.keep('server', name, program, { ...progress, serves })
        : processes.launch('server', name, program),
    processes,
    progress,
    installed,
  };
  const [servers] = await Promise.all([
    provideServers(process.env, context, onCluster ? undefined : () => new DockerServers(context)),
    installed.then(() => build(processes)),
  ]);
  const identities = developmentIdentities();
  const environment = {
    ...gatewayEnvironment({ env: process.env, ports, servers }),
    CALLERS_FILE: identities.callersFile,
  };
  const commandLines = { ...environment, ...identities.of('operator') };
  writePrivateFile(environmentFile, commandLines);
  await prepare(processes, commandLines, secrets);
  const identityOf = identities.of;
  await startServices({ environment, secrets, identityOf, opsPort: ports.OPS_PORT, processes, progress });
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
 * What must be there before the first service starts: topics, indexes and the demo accounts.
 * @param {ChildProcesses} processes
 * @param {Record<string, string>} environment
 * @param {Record<string, string>} secrets
 */
async function prepare(processes, environment, secrets) {
  const provision = 'deploy/operations/dist/provision.js';
  const env = withOwnSecrets(provision, { ...process.env, ...environment, DEMO_ACCOUNTS: 'yes' }, secrets);
  await progress.during('Topics, indexes and demo accounts', () =>
    processes.run('provision', {
      command: projectNode,
      args: [join(root, provision)],
      env,
      timeoutMs: PREPARE_TIMEOUT_MS,
    }),
  );
}

/**
 * Explains an error, once: before everything is stopped, which takes a while.
 * @param {unknown} error
 */
function report(error) {
  if (error === undefined || error === reported || error instanceof StopRequested) return;
  reported = error;
  console.error(explain(error));
}

// If the reader of the progress goes away (a closed pipe), the system continues.
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
    report(error);
    exitCode = 1;
  }
}
process.exit(exitCode);
