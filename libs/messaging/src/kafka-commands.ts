import type { Logger, Print } from '@gateway/service-kit';
import { createLogger, explanationOf } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import { createKafka } from './client';

/** What every command gets. `topicPrefix` is empty unless TOPIC_PREFIX is set. */
export interface KafkaCommandContext {
  readonly kafka: KafkaClient;
  readonly topicPrefix: string;
  /** For the audit log, which needs MongoDB and the operator's identity. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: Logger;
  readonly print: Print;
}

/** A command line for operators that works on Kafka. */
export interface KafkaCommands<Command extends { name: string }> {
  /** Kafka client id. */
  readonly clientId: string;
  readonly usage: string;
  /** Undefined if the arguments are invalid. */
  parse(args: readonly string[]): Command | undefined;
  execute(command: Command, context: KafkaCommandContext): Promise<void>;
}

/** The last line of each usage text. */
export const SETTINGS_USAGE = `Uses the settings of the last npm start, or KAFKA_BROKERS and TOPIC_PREFIX. What changes something is audited:
MONGODB_URI, DATABASE_PREFIX, IDENTITY_TOKEN, CALLERS_FILE.`;

/**
 * Runs one command on the brokers of KAFKA_BROKERS.
 *
 * @returns the exit code: 0, 1 if the command failed, 2 for wrong usage.
 */
export async function runKafkaCommand<Command extends { name: string }>(
  commands: KafkaCommands<Command>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: Print,
): Promise<number> {
  const { clientId, usage } = commands;
  if (args[0] === 'help') {
    print(usage);
    return 0;
  }
  const command = commands.parse(args);
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');
  if (command === undefined || brokers.length === 0) {
    if (command === undefined && args.length > 0) print(`These arguments make no sense: ${args.join(' ')}`);
    print(usage);
    return 2;
  }
  const logger = createLogger({ service: clientId, level: 'silent' });
  const kafka = createKafka({ brokers, clientId, logger });
  try {
    await commands.execute(command, { kafka, topicPrefix: env['TOPIC_PREFIX'] ?? '', env, logger, print });
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return 1;
  }
}
