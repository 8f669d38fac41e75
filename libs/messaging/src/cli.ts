import { commandLineOperator, recordCommand } from '@gateway/audit';
import type { Print } from '@gateway/service-kit';
import { createMetrics, runCommandLine } from '@gateway/service-kit';
import type { DeadLetter, DeadLetters } from './dead-letters';
import { createDeadLetters, MAX_LISTED } from './dead-letters';
import type { KafkaCommandContext } from './kafka-commands';
import { runKafkaCommand, SETTINGS_USAGE } from './kafka-commands';
import { createPublisher } from './publisher';
import type { TopicUse } from './topic-use';

const DEFAULT_LIMIT = 50;
const USAGE = `usage: npm run dlq -- list [--topic TOPIC] [--limit N]      newest first, at most ${MAX_LISTED}; ${DEFAULT_LIMIT} unless given
       npm run dlq -- show TOPIC PARTITION OFFSET         one message with all headers
       npm run dlq -- replay TOPIC PARTITION OFFSET       asks the services that read its original topic to handle it again
${SETTINGS_USAGE}`;

const REPLAYS: TopicUse = { consumes: [], produces: ['deadLetterReplays'] };

type Command =
  | { name: 'list'; limit: number; topic?: string }
  | { name: 'show' | 'replay'; topic: string; partition: number; offset: number };

/** Undefined if the arguments are invalid. */
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

/** Runs one command. @returns the exit code, see {@link runKafkaCommand}. */
export function runCli(args: readonly string[], env: NodeJS.ProcessEnv, print: Print): Promise<number> {
  return runKafkaCommand({ clientId: 'dlq', usage: USAGE, parse: parseArguments, execute }, args, env, print);
}

async function execute(command: Command, context: KafkaCommandContext): Promise<void> {
  const { kafka, topicPrefix, logger } = context;
  const metrics = createMetrics('dlq', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'dlq', topicPrefix, uses: REPLAYS, metrics, logger });
  try {
    await publisher.start();
    await answer(command, createDeadLetters({ kafka, topicPrefix, publisher }), context);
  } finally {
    await publisher.stop();
  }
}

async function answer(
  command: Command,
  letters: DeadLetters,
  { env, print }: Pick<KafkaCommandContext, 'env' | 'print'>,
): Promise<void> {
  if (command.name === 'list') {
    const found = await letters.list(command);
    for (const letter of found) print(lineOf(letter));
    print(`${found.length} dead ${found.length === 1 ? 'letter' : 'letters'}`);
    return;
  }
  const { topic, partition, offset } = command;
  const subject = `${topic} ${partition} ${offset}`;
  if (command.name === 'show') {
    const shown = await recordCommand(
      env,
      { action: 'dead-letter.show', subject },
      () => letters.show(topic, partition, offset),
      ({ type }) => ({ type }),
    );
    print(JSON.stringify(shown, null, 2));
    return;
  }
  const letter = await letters.show(topic, partition, offset);
  const { name: requestedBy } = commandLineOperator(env);
  await recordCommand(env, { action: 'dead-letter.replay', subject, before: { type: letter.type } }, () =>
    letters.replay({ topic, partition, offset, requestedBy }),
  );
  print('requested; the services that read its original topic handle it again, and log it');
}

function lineOf({ topic, partition, offset, time, type, subject, reason }: DeadLetter): string {
  return [topic, partition, offset, time ?? '-', type ?? '-', subject ?? '-', reason ?? '-'].join('\t');
}

if (require.main === module) runCommandLine(runCli);
