/**
 * Kafka does not let this process in, or refuses what it asks for. Only an operator can help, with a user, a password or
 * an ACL: nothing is gained by another try.
 */
export class KafkaAccessError extends Error {
  override readonly name = 'KafkaAccessError';
  /** For kafkajs, which tries again otherwise. */
  readonly retriable = false;
}

const REFUSALS = new Set([
  'KafkaJSSASLAuthenticationError',
  'KafkaAccessError',
  'SASL_AUTHENTICATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
]);

/** @param error of kafkajs or of a `BrokerLink`, perhaps inside of others */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, type, cause } = error as Error & { type?: string };
  return REFUSALS.has(name) || (type !== undefined && REFUSALS.has(type)) || isRefusal(cause);
}

const ADVICE = '"npm run kafka -- acls" lists what each user needs';

/** @param what the process may not do: a sentence without its full stop */
export function accessError(what: string, cause?: unknown): KafkaAccessError {
  return new KafkaAccessError(`${what}; ${ADVICE}`, cause === undefined ? {} : { cause });
}

/** Kafka's codes for topics and groups that a user must not even know. */
export const TOPIC_REFUSED = 29;
export const GROUP_REFUSED = 30;
