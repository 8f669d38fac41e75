/**
 * `node scripts/test-cluster.mjs [kafka | kafka=1] [mongodb | mongodb=1]`: holds a cluster for tests, three members of
 * each or one, and prints `{ kafkaBrokers, mongodbUri, members }`: see {@link holdServers}. Then it takes one order per
 * line on standard input, `{ id, member, action }`, and answers each with `{ id, pid }` or `{ id, failure }` when it is
 * carried out.
 */
import { createInterface } from 'node:readline';
import { explain, Failure } from './failure.mjs';
import { LocalServers } from './servers/local-servers.mjs';
import { Member } from './servers/member.mjs';
import { findLastingPorts } from './servers/ports.mjs';
import { holdServers, newTestRunDirectory } from './test-run.mjs';

/** A single MongoDB removes expired documents every second, not every minute, and only when the test says so. */
const PROMPT_EXPIRY = ['--setParameter', 'ttlMonitorSleepSecs=1', '--setParameter', 'ttlMonitorEnabled=false'];

const wanted = process.argv.slice(2);
// Never that of the run which this cluster is a part of.
const directory = newTestRunDirectory();

/** @type {Map<string, Member>} */
const members = new Map();

/**
 * @param {Member} member
 * @param {string} action
 */
async function carryOut(member, action) {
  switch (action) {
    case 'kill':
      return member.kill();
    case 'terminate':
      return member.terminate();
    case 'freeze':
      return member.freeze();
    case 'thaw':
      return member.thaw();
    case 'start':
      return member.start();
    default:
      throw new Failure(`Unknown action ${action} for ${member.name}.`);
  }
}

/** @param {string} line */
async function obey(line) {
  const { id, member: name, action } = JSON.parse(line);
  const member = members.get(name);
  try {
    if (member === undefined) throw new Failure(`There is no member ${name}.`);
    await carryOut(member, action);
    print({ id, pid: member.pid });
  } catch (error) {
    print({ id, failure: explain(error) });
  }
}

/** @param {object} answer */
function print(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

await holdServers(directory, async ({ processes, progress }) => {
  const [a = 0, b = 0, c = 0, ...more] = await findLastingPorts(9);
  const [controllerA = 0, controllerB = 0, controllerC = 0, mongoA = 0, mongoB = 0, mongoC = 0] = more;
  const first = { port: a, controllerPort: controllerA };
  const others = [
    { port: b, controllerPort: controllerB },
    { port: c, controllerPort: controllerC },
  ];
  const oneBroker = wanted.includes('kafka=1');
  const oneMongod = wanted.includes('mongodb=1');
  const servers = new LocalServers({
    directory,
    logDirectory: directory,
    ports: {
      kafka: oneBroker ? [first] : [first, ...others],
      mongodb: oneMongod ? [mongoA] : [mongoA, mongoB, mongoC],
    },
    ...(oneMongod && { mongodOptions: PROMPT_EXPIRY }),
    launch: (server) => members.set(server.name, new Member(server, processes)),
    processes,
    progress,
    installed: Promise.resolve(),
  });
  const [kafkaBrokers, mongodbUri] = await Promise.all([
    oneBroker || wanted.includes('kafka') ? servers.startKafka() : '',
    oneMongod || wanted.includes('mongodb') ? servers.startMongodb() : '',
  ]);
  createInterface({ input: process.stdin }).on('line', (line) => void obey(line));
  const described = [...members.values()].map(({ name, port, pid }) => ({ name, port, pid }));
  return { kafkaBrokers, mongodbUri, members: described.sort((one, other) => (one.name < other.name ? -1 : 1)) };
});
