import { createLogger, explanationOf } from '@gateway/service-kit';
import { createKafka } from './client';
import type { KafkaClient } from './client';
import { PUBLISHER_LIMITS } from './publisher';
import { growTopics, listTopics } from './topics';

/** A cluster of three brokers copes with a few thousand partitions, of which each topic takes its share. */
const MAX_PARTITIONS = 500;
const USAGE = `usage: npm run topics -- list                      partitions, replicas, and what is not in sync
       npm run topics -- grow --partitions N      N partitions for every topic but dead letters; at most ${MAX_PARTITIONS}
Read docs/runbook.md before growing: partitions cannot be taken away again.
The settings of the last npm start serve, else: KAFKA_BROKERS; TOPIC_PREFIX if the topics have one.`;

type Command = { name: 'list' } | { name: 'grow'; partitions: number };

/** What the arguments ask for; undefined when they make no sense. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, option, value = '', ...rest] = args;
  if (name === 'list' && option === undefined) return { name };
  if (name !== 'grow' || option !== '--partitions' || rest.length > 0 || !/^\d{1,4}$/.test(value)) return undefined;
  const partitions = Number(value);
  return partitions >= 1 && partitions <= MAX_PARTITIONS ? { name, partitions } : undefined;
}

/** Runs one command. @returns the exit code: 0, 1 when it failed, 2 for wrong usage. */
export async function runTopicsCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  if (args[0] === 'help') {
    print(USAGE);
    return 0;
  }
  const command = parseArguments(args);
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');
  if (command === undefined || brokers.length === 0) {
    if (command === undefined && args.length > 0) print(`These arguments make no sense: ${args.join(' ')}`);
    print(USAGE);
    return 2;
  }
  const logger = createLogger({ service: 'topics', level: 'silent' });
  const kafka = createKafka({ brokers, clientId: 'topics', logger });
  try {
    await execute(command, { kafka, prefix: env['TOPIC_PREFIX'] ?? '' }, print);
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return 1;
  }
}

async function execute(
  command: Command,
  where: { kafka: KafkaClient; prefix: string },
  print: (line: string) => void,
): Promise<void> {
  if (command.name === 'list') {
    print(['topic', 'partitions', 'replicas', 'not in sync'].join('\t'));
    for (const { name, partitions, replicationFactor, underReplicated } of await listTopics(where)) {
      print([name, partitions, replicationFactor, underReplicated].join('\t'));
    }
    return;
  }
  const grown = await growTopics({ ...where, partitions: command.partitions });
  for (const name of grown) print(`${name} has ${command.partitions} partitions`);
  if (grown.length === 0) print(`every topic has ${command.partitions} partitions already`);
  else print(`Start and restart no service in the next ${PUBLISHER_LIMITS.newPartitionsAfterMs / 60_000 + 1} minutes.`);
}

if (require.main === module) {
  runTopicsCli(process.argv.slice(2), process.env, (line) => console.log(line)).then(
    (exitCode) => process.exit(exitCode),
    (error: unknown) => {
      console.error(explanationOf(error));
      process.exit(1);
    },
  );
}
