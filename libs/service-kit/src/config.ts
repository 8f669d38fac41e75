import type { Static, TObject } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import Ajv from 'ajv';
import type { ConnectionLimits } from './connection-limits';
import { DEFAULT_CONNECTION_LIMITS } from './connection-limits';

/** All problems of a configuration at once, one sentence each. */
export class ConfigurationError extends Error {}

const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true });

/**
 * Reads settings from environment variables: strings become what the schema says, defaults apply, an empty string
 * counts as unset. Throws a {@link ConfigurationError} that names every missing or wrong variable. The result is
 * frozen.
 */
export function loadConfig<T extends TObject>(schema: T, env: Record<string, string | undefined>): Readonly<Static<T>> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    if (env[name] !== undefined && env[name] !== '') values[name] = env[name];
  }
  const validate = ajv.compile(schema);
  if (!validate(values)) {
    const problems = (validate.errors ?? []).map((error) =>
      error.keyword === 'required'
        ? `${String(error.params['missingProperty'])} is not set`
        : `${error.instancePath.slice(1)} ${error.message ?? 'is wrong'}`,
    );
    throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  }
  return Object.freeze(values as Static<T>);
}

/**
 * The settings that every service has; a service spreads them into its own schema. Descriptions go into docs/settings.md
 * (`npm run docs`).
 */
export const commonSettings = {
  LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level as 'info')),
    { default: 'info', description: 'Least severe level that is logged' },
  ),
  OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 0,
    description: 'Port of `/health/live`, `/health/ready` and `/metrics`; 0 takes a free port',
  }),
  KAFKA_BROKERS: Type.String({ minLength: 1, description: 'Brokers as `host:port`, comma-separated' }),
  MONGODB_URI: Type.String({ minLength: 1, description: 'URI of a replica set' }),
  TOPIC_PREFIX: Type.String({
    default: '',
    maxLength: 60,
    pattern: '^[a-zA-Z0-9._-]*$',
    description: 'Prefix of all topics and consumer groups',
  }),
  DATABASE_PREFIX: Type.String({
    default: '',
    maxLength: 30,
    pattern: '^[a-zA-Z0-9_-]*$',
    description: 'Prefix of all databases',
  }),
  MAX_CLOCK_SKEW_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'The service is not ready while its clock and the database clock differ by more',
  }),
  SERVICE_TOKEN: Type.Optional(
    Type.String({
      minLength: 32,
      description:
        'Bearer token of internal ports. Unset, they listen on loopback only; set, they listen on every interface and query ports require it',
    }),
  ),
};

export type CommonConfig = Readonly<Static<TObject<typeof commonSettings>>>;

/** Settings of services with a public port, for {@link connectionLimitsOf}. */
export const connectionSettings = {
  MAX_CONNECTIONS: Type.Integer({
    minimum: 1,
    default: DEFAULT_CONNECTION_LIMITS.max,
    description: 'Open connections of the public port',
  }),
  MAX_CONNECTIONS_PER_SOURCE: Type.Integer({
    minimum: 1,
    default: DEFAULT_CONNECTION_LIMITS.maxPerSource,
    description: 'Open connections from one IPv4 address or IPv6 /64',
  }),
  TRUSTED_PROXY_CIDRS: Type.String({
    default: '',
    description: 'Proxies whose `X-Forwarded-For` is trusted: addresses and CIDRs, comma-separated',
  }),
};

export function connectionLimitsOf(config: {
  MAX_CONNECTIONS: number;
  MAX_CONNECTIONS_PER_SOURCE: number;
  TRUSTED_PROXY_CIDRS: string;
}): ConnectionLimits {
  const trustedProxies = config.TRUSTED_PROXY_CIDRS.split(',').map((cidr) => cidr.trim());
  return {
    max: config.MAX_CONNECTIONS,
    maxPerSource: config.MAX_CONNECTIONS_PER_SOURCE,
    trustedProxies: trustedProxies.filter((cidr) => cidr !== ''),
  };
}

/** `host:port,host:port` as Kafka clients take it. */
export function brokerList(brokers: string): string[] {
  return brokers.split(',').map((broker) => broker.trim());
}
