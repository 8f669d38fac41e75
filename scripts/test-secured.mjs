/**
 * `node scripts/test-secured.mjs FILE`: holds one broker and one `mongod` for tests that admit only users, over TLS, and
 * prints `{ port, certificatePort, mongodbPort }`: see {@link holdServers}. FILE has their `security` as JSON. The test
 * initiates the replica set and creates MongoDB's users.
 */
import { readFileSync } from 'node:fs';
import { LocalServers } from './servers/local-servers.mjs';
import { findLastingPorts } from './servers/ports.mjs';
import { holdServers, newTestRunDirectory } from './test-run.mjs';

const directory = newTestRunDirectory();
const { kafka, mongodb } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));

await holdServers(directory, async ({ processes, progress }) => {
  const [port = 0, controllerPort = 0, certificatePort = 0, mongodbPort = 0] = await findLastingPorts(4);
  const servers = new LocalServers({
    directory,
    logDirectory: directory,
    ports: { kafka: [{ port, controllerPort }], mongodb: [mongodbPort] },
    launch: ({ name, program }) => processes.launch('server', name, program),
    processes,
    progress,
    installed: Promise.resolve(),
    security: { kafka: { ...kafka, certificatePort }, mongodb },
  });
  await Promise.all([servers.startKafka(), servers.startMongodb()]);
  return { port, certificatePort, mongodbPort };
});
