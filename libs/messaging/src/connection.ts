import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { Mechanism } from 'kafkajs';
import type { KafkaConfig } from '@gateway/service-kit';
import { ConfigurationError, messageOf, tlsClientOptions } from '@gateway/service-kit';
import { scram } from './scram';

/** Where the brokers are, how they are reached, and who this process is. Without `tls` and `sasl`: plaintext, nobody. */
export interface KafkaConnection {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  /** Called for each connection, so that renewed certificates need no restart. */
  readonly tls?: () => ConnectionOptions;
  readonly sasl?: Mechanism;
}

/** @throws ConfigurationError that names every setting which contradicts another one or cannot be read. */
export function kafkaConnection(config: KafkaConfig): KafkaConnection {
  const problems = [...contradictions(config), ...unreadable(config)];
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  const { KAFKA_BROKERS, KAFKA_TLS, KAFKA_USER: username, KAFKA_PASSWORD: password } = config;
  return {
    brokers: KAFKA_BROKERS.split(',').map((broker) => broker.trim()),
    ...(KAFKA_TLS === 'on' && { tls: () => tlsOptions(config) }),
    ...(username !== undefined && password !== undefined && { sasl: scram({ username, password }) }),
  };
}

function contradictions(config: KafkaConfig): string[] {
  const problems: string[] = [];
  const together = (one: keyof KafkaConfig, other: keyof KafkaConfig): void => {
    if (config[one] !== undefined && config[other] === undefined) problems.push(`${one} needs ${other}`);
    if (config[one] === undefined && config[other] !== undefined) problems.push(`${other} needs ${one}`);
  };
  together('KAFKA_USER', 'KAFKA_PASSWORD');
  together('KAFKA_CERT_FILE', 'KAFKA_KEY_FILE');
  for (const file of ['KAFKA_CA_FILE', 'KAFKA_CERT_FILE'] as const) {
    if (config[file] !== undefined && config.KAFKA_TLS === 'off') problems.push(`${file} needs KAFKA_TLS=on`);
  }
  return problems;
}

function unreadable(config: KafkaConfig): string[] {
  try {
    createSecureContext(tlsOptions(config));
    return [];
  } catch (error) {
    return [`the files of KAFKA_CA_FILE, KAFKA_CERT_FILE and KAFKA_KEY_FILE cannot be used: ${messageOf(error)}`];
  }
}

function tlsOptions({ KAFKA_CA_FILE, KAFKA_CERT_FILE, KAFKA_KEY_FILE }: KafkaConfig): ConnectionOptions {
  return tlsClientOptions({
    ...(KAFKA_CA_FILE !== undefined && { ca: readFileSync(KAFKA_CA_FILE) }),
    ...(KAFKA_CERT_FILE !== undefined && { cert: readFileSync(KAFKA_CERT_FILE) }),
    ...(KAFKA_KEY_FILE !== undefined && { key: readFileSync(KAFKA_KEY_FILE) }),
  });
}
