import { createLogger, createMetrics, explanationOf } from '@gateway/service-kit';
import { createKafka } from './client';
import type { DeadLetter, DeadLetters } from './dead-letters';
import { createDeadLetters, MAX_LISTED } from './dead-letters';
import { createPublisher } from './publisher';

const DEFAULT_LIMIT = 50;
const USAGE = `usage: npm run dlq -- list [--topic TOPIC] [--limit N]      newest first, at most ${MAX_LISTED}; ${DEFAULT_LIMIT} unless given
       npm run dlq -- show TOPIC PARTITION OFFSET         one message with all headers
       npm run dlq -- replay TOPIC PARTITION OFFSET       publishes the original again where it came from
The settings of the last npm start serve, else: KAFKA_BROKERS; TOPIC_PREFIX if the topics have one.`;

type Command =
  | { name: 'list'; limit: number; topic?: string }
  | { name: 'show' | 'replay'; topic: string; partition: number; offset: number };

/** What the arguments ask for; undefined when they make no sense. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'list') return parseList(rest);
  if (name !== 'show' && name !== 'replay') return undefined;
  const [topic, partition, offset] = rest;
  if (topic === undefined || rest.length !== 3 || !isCount(partition) || !isCount(offset)) return undefined;
  return { name, topic, partition: Number(partition), offset: Number(offset) };
}

function parseList(args: readonly string[]): Command | undefined {
  let limit = DEFAULT_LIMIT;
  let topic: string | undefined;
  for (let index = 0; index < args.length; index += 2) {
    const value = args[index + 1];
    if (args[index] === '--topic' && value !== undefined) topic = value;
    else if (args[index] === '--limit' && isCount(value) && Number(value) >= 1 && Number(value) <= MAX_LISTED)
      limit = Number(value);
    else return undefined;
  }
  return { name: 'list', limit, ...(topic !== undefined && { topic }) };
}

function isCount(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,15}$/.test(text);
}

/** Runs one command. @returns the exit code: 0, 1 when it failed, 2 for wrong usage. */
export async function runCli(
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
  const logger = createLogger({ service: 'dlq', level: 'silent' });
  const kafka = createKafka({ brokers, clientId: 'dlq', logger });
  const topicPrefix = env['TOPIC_PREFIX'] ?? '';
  const metrics = createMetrics('dlq', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'dlq', topicPrefix, metrics, logger });
  try {
    await publisher.start();
    await execute(command, createDeadLetters({ kafka, topicPrefix, publisher }), print);
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return 1;
  } finally {
    await publisher.stop();
  }
}

async function execute(command: Command, letters: DeadLetters, print: (line: string) => void): Promise<void> {
  if (command.name === 'list') {
    const found = await letters.list(command);
    for (const letter of found) print(lineOf(letter));
    print(`${found.length} dead ${found.length === 1 ? 'letter' : 'letters'}`);
    return;
  }
  const { topic, partition, offset } = command;
  if (command.name === 'show') print(JSON.stringify(await letters.show(topic, partition, offset), null, 2));
  else print(`published again to ${await letters.replay(topic, partition, offset)}`);
}

function lineOf({ topic, partition, offset, time, type, subject, reason }: DeadLetter): string {
  return [topic, partition, offset, time ?? '-', type ?? '-', subject ?? '-', reason ?? '-'].join('\t');
}

if (require.main === module) {
  runCli(process.argv.slice(2), process.env, (line) => console.log(line)).then(
    (exitCode) => process.exit(exitCode),
    (error: unknown) => {
      console.error(explanationOf(error));
      process.exit(1);
    },
  );
}
