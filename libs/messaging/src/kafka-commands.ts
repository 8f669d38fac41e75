import type { Logger, Print } from '@gateway/service-kit';
import {
  ConfigurationError,
  createLogger,
  explanationOf,
  kafkaProductionRules,
  kafkaSchema,
  loadConfig,
} from '@gateway/service-kit';
import type { KafkaClient } from './client';
import { createKafka } from './client';
import { kafkaConnection } from './connection';

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
export const SETTINGS_USAGE = `Uses the settings of the last npm start, or KAFKA_BROKERS, the other KAFKA_ settings and TOPIC_PREFIX. grow,
show and replay are audited, so they need MONGODB_URI, DATABASE_PREFIX, IDENTITY_TOKEN and CALLERS_FILE too.`;

/**
 * Runs one command on the brokers of KAFKA_BROKERS.
 *
 * @returns the exit code: 0, 1 if the command failed, 2 for wrong usage or settings.
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
  if (command === undefined) {
    if (args.length > 0) print(`Wrong arguments: ${args.join(' ')}`);
    print(usage);
    return 2;
  }
  try {
    const config = loadConfig(kafkaSchema, env, kafkaProductionRules);
    const logger = createLogger({ service: clientId, level: 'silent' });
    const kafka = createKafka({ ...kafkaConnection(config), clientId, logger });
    await commands.execute(command, { kafka, env, topicPrefix: config.TOPIC_PREFIX, logger, print });
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return error instanceof ConfigurationError ? 2 : 1;
  }
}
