/** Holds the servers of one test run and prints `{ kafkaBrokers, mongodbUri }`: see {@link holdServers}. */
import { findFreePorts } from './servers/ports.mjs';
import { provideServers } from './servers/provide-servers.mjs';
import { TestContainers } from './servers/test-containers.mjs';
import { holdServers, newTestRunDirectory } from './test-run.mjs';

const directory = process.env.TEST_RUN_DIRECTORY || newTestRunDirectory();

/** @type {TestContainers | undefined} */
let containers;

await holdServers(
  directory,
  async ({ processes, progress }) => {
    const [port = 0, controllerPort = 0, mongodb = 0] = await findFreePorts(3);
    /** @type {import('./servers/provide-servers.mjs').ServerContext} */
    const context = {
      directory,
      logDirectory: directory,
      ports: { kafka: [{ port, controllerPort }], mongodb: [mongodb] },
      launch: ({ name, program }) => processes.launch('server', name, program),
      processes,
      progress,
      installed: Promise.resolve(),
    };
    return provideServers(process.env, context, () => (containers = new TestContainers(context)));
  },
  async () => containers?.stop(),
);
