import { recordCommand } from '@gateway/audit';
import type { Print } from '@gateway/service-kit';
import { runCommandLine } from '@gateway/service-kit';
import type { KafkaCommandContext } from './kafka-commands';
import { runKafkaCommand, SETTINGS_USAGE } from './kafka-commands';
import { PUBLISHER_LIMITS } from './publisher';
import { growTopics, listTopics } from './topics';

/** Per topic. Three brokers cope with a few thousand partitions in total. */
const MAX_PARTITIONS = 500;
const USAGE = `usage: npm run topics -- list                      partitions, replicas, and what is not in sync
       npm run topics -- grow --partitions N      N partitions for every topic but dead letters; at most ${MAX_PARTITIONS}
Read docs/runbook.md before growing: Kafka cannot remove partitions.
${SETTINGS_USAGE}`;

type Command = { name: 'list' } | { name: 'grow'; partitions: number };

/** Undefined if the arguments are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, option, value = '', ...rest] = args;
  if (name === 'list' && option === undefined) return { name };
  if (name !== 'grow' || option !== '--partitions' || rest.length > 0 || !/^\d{1,4}$/.test(value)) return undefined;
  const partitions = Number(value);
  return partitions >= 1 && partitions <= MAX_PARTITIONS ? { name, partitions } : undefined;
}

/** Runs one command. @returns the exit code, see {@link runKafkaCommand}. */
export function runTopicsCli(args: readonly string[], env: NodeJS.ProcessEnv, print: Print): Promise<number> {
  return runKafkaCommand({ clientId: 'topics', usage: USAGE, parse: parseArguments, execute }, args, env, print);
}

async function execute(command: Command, context: KafkaCommandContext): Promise<void> {
  const { kafka, topicPrefix: prefix, env, print } = context;
  if (command.name === 'list') {
    const topics = await listTopics({ kafka, prefix });
    print(['topic', 'partitions', 'replicas', 'not in sync'].join('\t'));
    for (const { name, partitions, replicationFactor, underReplicated } of topics) {
      print([name, partitions, replicationFactor, underReplicated].join('\t'));
    }
    return;
  }
  const { partitions } = command;
  const grown = await recordCommand(
    env,
    { action: 'topics.grow', subject: 'all topics but dead letters' },
    () => growTopics({ kafka, prefix, partitions }),
    (topics) => ({ partitions, topics }),
  );
  for (const name of grown) print(`${name} has ${partitions} partitions`);
  if (grown.length === 0) print(`every topic has ${partitions} partitions already`);
  else print(`Start and restart no service in the next ${PUBLISHER_LIMITS.newPartitionsAfterMs / 60_000 + 1} minutes.`);
}

if (require.main === module) runCommandLine(runTopicsCli);
