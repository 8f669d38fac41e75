import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createErrorFromCode } from 'kafkajs/src/protocol/error';
import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';
import type { ScramUser } from './scram-request';

/** RFC 5802, with SHA-512. Kafka accepts 4,096 to 16,384 iterations. */
const ITERATIONS = 8_192;
const SALT_BYTES = 32;
const HASH_BYTES = 64;

const derive = promisify(pbkdf2);

/**
 * Creates the users of these names for SASL SCRAM-SHA-512, or changes their passwords. Connections that are open stay
 * open. Only a super user of the cluster may.
 *
 * @throws Error that names the users which Kafka did not take; kafkajs' error if no broker answers
 */
export async function applyScramUsers(kafka: KafkaClient, passwords: ReadonlyMap<string, string>): Promise<void> {
  const users = await Promise.all([...passwords].map(([name, password]) => scramUser(name, password)));
  const { openLink, seeds } = kafka.links;
  const brokers = createAnyBroker({ openLink, seeds });
  try {
    const refused = (await brokers.alterScramUsers(users)).filter(({ errorCode }) => errorCode !== 0);
    const reasons = refused.map(({ user, errorCode }) => `${user} (${createErrorFromCode(errorCode).message})`);
    if (reasons.length > 0) throw new Error(`Kafka did not take these users: ${reasons.join(', ')}`);
  } finally {
    brokers.close();
  }
}

async function scramUser(name: string, password: string): Promise<ScramUser> {
  const salt = randomBytes(SALT_BYTES);
  const saltedPassword = await derive(password.normalize('NFKC'), salt, ITERATIONS, HASH_BYTES, 'sha512');
  return { name, iterations: ITERATIONS, salt, saltedPassword };
}
