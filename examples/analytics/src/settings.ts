import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KafkaConfig } from 'kafkajs';

export interface Settings {
  /** Where the brokers are, how they are reached, and as whom. */
  readonly kafka: Pick<KafkaConfig, 'ssl' | 'sasl'> & { readonly brokers: string[] };
  /** Precedes the names of topics and of the consumer group. */
  readonly topicPrefix: string;
  /** Of the consumer group, without prefix. */
  readonly group: string;
  /** Absolute path of the folder that everything is written to. */
  readonly directory: string;
  /** Most bytes of one transaction, unless a single message has more. */
  readonly batchBytes: number;
}

/** Settings that are missing or contradict each other. The message has one sentence for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_BATCH_BYTES = 1_048_576;
const LEAST_BATCH_BYTES = 1_024;
const BROKER = /^[^\s:,]+:\d{1,5}$/;

/**
 * Reads the settings from environment variables, which have the names that the gateway's own services use.
 *
 * @throws SettingsError that names every problem
 */
export function readSettings(env: Environment): Settings {
  const problems: string[] = [];
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const brokers = (given('KAFKA_BROKERS') ?? '').split(',').map((broker) => broker.trim());
  if (!brokers.every((broker) => BROKER.test(broker)))
    problems.push('KAFKA_BROKERS must be host:port, comma-separated.');
  const ssl = tlsOf(given, problems);
  const sasl = userOf(given, problems);
  const batchBytes = Number(given('ANALYTICS_BATCH_BYTES') ?? DEFAULT_BATCH_BYTES);
  if (!Number.isSafeInteger(batchBytes) || batchBytes < LEAST_BATCH_BYTES) {
    problems.push(`ANALYTICS_BATCH_BYTES must be a whole number from ${LEAST_BATCH_BYTES}.`);
  }
  if (problems.length > 0) throw new SettingsError(problems.join(' '));
  return {
    kafka: { brokers, ...(ssl !== undefined && { ssl }), ...(sasl !== undefined && { sasl }) },
    topicPrefix: given('TOPIC_PREFIX') ?? '',
    group: given('ANALYTICS_GROUP') ?? 'analytics',
    directory: resolve(given('ANALYTICS_DIR') ?? 'analytics'),
    batchBytes,
  };
}

type Given = (name: string) => string | undefined;

function tlsOf(given: Given, problems: string[]): KafkaConfig['ssl'] {
  const files = { ca: given('KAFKA_CA_FILE'), cert: given('KAFKA_CERT_FILE'), key: given('KAFKA_KEY_FILE') };
  const named = Object.entries(files).flatMap(([part, path]) => (path === undefined ? [] : [[part, path] as const]));
  if ((given('KAFKA_TLS') ?? 'off') !== 'on') {
    if (named.length > 0) problems.push('KAFKA_CA_FILE, KAFKA_CERT_FILE and KAFKA_KEY_FILE need KAFKA_TLS=on.');
    return undefined;
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    problems.push('KAFKA_CERT_FILE and KAFKA_KEY_FILE need each other.');
  }
  return Object.fromEntries(named.map(([part, path]) => [part, contentOf(path, problems)]));
}

function contentOf(path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    problems.push(`${path} cannot be read: ${(error as Error).message}.`);
    return '';
  }
}

function userOf(given: Given, problems: string[]): KafkaConfig['sasl'] {
  const username = given('KAFKA_USER');
  const passwordFile = given('KAFKA_PASSWORD_FILE');
  const password =
    given('KAFKA_PASSWORD') ?? (passwordFile === undefined ? undefined : contentOf(passwordFile, problems).trimEnd());
  if (username !== undefined && password !== undefined) return { mechanism: 'scram-sha-512', username, password };
  if (username !== password) problems.push('KAFKA_USER and KAFKA_PASSWORD (or KAFKA_PASSWORD_FILE) need each other.');
  return undefined;
}
