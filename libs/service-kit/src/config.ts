import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { ErrorObject, SchemaValidateFunction } from 'ajv';
import Ajv from 'ajv';
import { rangesIn } from './address-range';
import { authorityFile, CALLED_KEYWORD, calledAddress, calledAddressRules } from './called-address';
import { internalCertificateRules, internalTlsSettings } from './certificates';
import { ConfigurationError } from './configuration-error';
import type { ConnectionLimits } from './connection-limits';
import { DEFAULT_CONNECTION_LIMITS } from './connection-limits';
import { hasPlainCredentials, MONGODB_KEYWORD, NOT_ENCODED } from './mongodb-address';
import { unsafeNodeOptions } from './node-options';
import type { ProductionRule } from './production';
import { LISTENS_KEYWORD, listeningHosts } from './profile';
import { refusedInProduction } from './production';
import { FOLDER_KEYWORD, OWN_KEYWORD, publishedSecretRules } from './published-secrets';
import type { Environment } from './secret-settings';
import { isSecret, readSecret, SECRET_KEYWORD, secretText, valueOf } from './secret-settings';

/** Without JSON Schema's own schema, which would be compiled at each start: TypeBox writes only valid schemas. */
const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, validateSchema: false });
ajv.addKeyword({ keyword: CALLED_KEYWORD, schemaType: 'string' });
for (const keyword of [SECRET_KEYWORD, OWN_KEYWORD, FOLDER_KEYWORD, LISTENS_KEYWORD])
  ajv.addKeyword({ keyword, schemaType: 'boolean' });
const isEncoded: SchemaValidateFunction = (_keyword: boolean, uri: string) => {
  isEncoded.errors = [{ keyword: MONGODB_KEYWORD, message: NOT_ENCODED }];
  return !hasPlainCredentials(uri);
};
ajv.addKeyword({ keyword: MONGODB_KEYWORD, type: 'string', schemaType: 'boolean', validate: isEncoded });

/**
 * Reads settings from environment variables: strings become what the schema says, defaults apply, an empty string
 * counts as unset, and a secret may be in a file ({@link secretText}). Throws a {@link ConfigurationError} that names
 * every missing or wrong variable, or, with `NODE_ENV=production`, everything that the rules refuse, published secrets
 * among it. The environment names the profile, also for a schema without it. The result is frozen.
 */
export function loadConfig<T extends TObject>(
  schema: T,
  env: Environment,
  productionRules: readonly ProductionRule<Static<T>>[] = [],
): Readonly<Static<T>> {
  const { values, problems } = readValues(schema, env);
  const validate = ajv.compile(schema);
  if (!validate(values)) {
    for (const error of validate.errors ?? []) {
      const name = settingOf(error);
      // The first problem of a setting is enough, and the one of its file explains why it is not set.
      if (!problems.has(name)) problems.set(name, problemOf(name, error, schema.properties[name]));
    }
  }
  if (problems.size > 0) throw new ConfigurationError(`Configuration: ${[...problems.values()].join('; ')}.`);
  const config = values as Static<T>;
  const isProduction = valueOf(env, 'NODE_ENV') === 'production';
  const nodeOptions = () => unsafeNodeOptions(env, process.execArgv);
  const rules = [
    nodeOptions,
    ...publishedSecretRules(schema.properties),
    ...calledAddressRules(schema.properties),
    ...internalCertificateRules(schema.properties),
    ...productionRules,
  ];
  const refusals = isProduction ? rules.flatMap((rule) => rule(config) ?? []) : [];
  if (refusals.length > 0) throw refusedInProduction(refusals);
  return Object.freeze(config);
}

/** The given values, and the problems of files, by setting. */
function readValues(schema: TObject, env: Environment) {
  const values: Record<string, unknown> = {};
  const problems = new Map<string, string>();
  for (const [name, setting] of Object.entries(schema.properties)) {
    const read = isSecret(setting) ? readSecret(env, name) : { value: valueOf(env, name) };
    if ('problem' in read) problems.set(name, read.problem);
    else if (read.value !== undefined) values[name] = read.value;
  }
  return { values, problems };
}

function settingOf({ keyword, params, instancePath }: ErrorObject): string {
  return keyword === 'required' ? String(params['missingProperty']) : instancePath.slice(1);
}

function problemOf(name: string, { keyword, message = 'is wrong' }: ErrorObject, setting: TSchema | undefined): string {
  if (keyword === 'required') return `${name} is not set`;
  const choices = (setting as { anyOf?: { const?: unknown }[] } | undefined)?.anyOf;
  return choices === undefined ? `${name} ${message}` : `${name} must be one of ${choices.map(constOf).join(', ')}`;
}

function constOf(choice: { const?: unknown }): string {
  return String(choice.const);
}

const NODE_ENV = Type.Union([Type.Literal('development'), Type.Literal('test'), Type.Literal('production')], {
  default: 'development',
  description:
    'The profile, which every service must be told. `production` refuses to start with [unsafe settings](operator.md#production), the others [stay on this machine](operator.md#production)',
});

/** What the process was built from. The image sets both. */
const buildSettings = {
  GATEWAY_VERSION: Type.String({ default: 'development', description: 'Version; images set it' }),
  GATEWAY_COMMIT: Type.String({ default: 'unknown', description: 'Git commit; images set it' }),
};

/** Settings of everything that connects to Kafka: services and command lines. */
export const kafkaSettings = {
  KAFKA_BROKERS: Type.String({ minLength: 1, description: 'Brokers as `host:port`, comma-separated' }),
  KAFKA_TLS: Type.Union([Type.Literal('off'), Type.Literal('on')], {
    default: 'off',
    description: '`on`: connections to the brokers are encrypted, and their certificates and names are checked',
  }),
  KAFKA_CA_FILE: Type.Optional(
    Type.String({ description: "PEM: the authorities of the brokers' certificates; unset, those that Node trusts" }),
  ),
  KAFKA_CERT_FILE: Type.Optional(
    Type.String({ description: 'PEM: the client certificate with which this process authenticates itself' }),
  ),
  KAFKA_KEY_FILE: Type.Optional(Type.String({ description: 'PEM: the private key of that certificate' })),
  KAFKA_USER: Type.Optional(
    Type.String({ description: 'User with which this process authenticates itself, by SASL SCRAM-SHA-512' }),
  ),
  KAFKA_PASSWORD: Type.Optional(secretText({ description: 'Password of that user' })),
  TOPIC_PREFIX: Type.String({
    default: '',
    maxLength: 60,
    pattern: '^[a-zA-Z0-9._-]*$',
    description: 'Prefix of all topics and consumer groups',
  }),
};

/** Settings of everything that connects to MongoDB. */
export const mongoSettings = {
  MONGODB_URI: secretText({
    minLength: 1,
    [MONGODB_KEYWORD]: true,
    description:
      'URI of a replica set, with user, password and TLS: `mongodb://user:password@host/?tls=true&tlsCAFile=…`. In user and password, percent-encode `@ / : ? # [ ] %`',
  }),
  DATABASE_PREFIX: Type.String({
    default: '',
    maxLength: 30,
    pattern: '^[a-zA-Z0-9_-]*$',
    description: 'Prefix of all databases',
  }),
};

/** For {@link loadConfig}, in what is not a service. */
export const kafkaSchema = Type.Object({ NODE_ENV, ...kafkaSettings });
export const mongoSchema = Type.Object({ NODE_ENV, ...mongoSettings });

export type KafkaConfig = Readonly<Static<typeof kafkaSchema>>;
export type MongoConfig = Readonly<Static<typeof mongoSchema>>;

/** Where traces go; ADR 0055. */
const tracingSettings = {
  OTLP_URL: Type.Optional(
    calledAddress({
      pattern: '^https?://[^/?#@\\s]+(/[^/?#\\s]+)*$',
      description:
        'Collector that takes traces by OTLP over HTTP, without `/v1/traces`; unset, [traces](operator.md#traces) are not recorded',
    }),
  ),
  OTLP_CA_FILE: authorityFile('that collector'),
  OTLP_HEADERS: Type.Optional(
    secretText({
      pattern: '^[\\w-]+=[^,]+(,[\\w-]+=[^,]+)*$',
      description: 'Headers for that collector, such as `authorization=Bearer …`, comma-separated',
    }),
  ),
  TRACE_SAMPLE_RATIO: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.01,
    description: 'Share of traces that are exported; those that fail are exported anyway. The same in all services',
  }),
};

/**
 * The settings that every service has; a service spreads them into its own schema. Descriptions go into docs/settings.md
 * (`npm run docs`).
 */
export const commonSettings = {
  NODE_ENV,
  DEVELOPMENT_REACH: Type.Union([Type.Literal('loopback'), Type.Literal('network')], {
    default: 'loopback',
    description:
      'Where a service listens and calls in clear without `NODE_ENV=production`: on this machine, or also in a network that is as closed, such as those of Compose',
  }),
  LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level as 'info')),
    { default: 'info', description: 'Least severe level that is logged' },
  ),
  OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 0,
    description:
      'Port of `/health/live`, `/health/ready`, `/health/serving`, `/metrics` and `/about`; 0 takes a free port',
  }),
  ...buildSettings,
  ...tracingSettings,
  ...kafkaSettings,
  ...mongoSettings,
  MAX_CLOCK_SKEW_MS: Type.Integer({
    minimum: 100,
    default: 60_000,
    description: 'The service is not ready while its clock and the database clock differ by more',
  }),
  INTERNAL_HOST: listeningHosts({
    minLength: 1,
    default: '127.0.0.1',
    description: 'Addresses of internal ports, comma-separated. If one is beyond loopback, `CALLERS_FILE` must be set',
  }),
  OPS_HOST: Type.Optional(
    listeningHosts({ description: 'The same for the port of health and metrics alone; unset, `INTERNAL_HOST`' }),
  ),
  CALLERS_FILE: Type.Optional(
    Type.String({
      description:
        'JSON list of who may call internal ports, read again when it changes. Unset, everyone on this machine may',
    }),
  ),
  ...internalTlsSettings,
};

export type CommonConfig = Readonly<Static<TObject<typeof commonSettings>>>;

/** Settings of whoever calls internal ports of other services. */
export const identitySettings = {
  IDENTITY_TOKEN: Type.Optional(
    secretText({
      minLength: 32,
      description:
        'Bearer token that the service presents to internal ports of others; its hash is in their `CALLERS_FILE`',
    }),
  ),
};

/** Settings of services with a public port, for {@link connectionLimitsOf}. */
export const connectionSettings = {
  MAX_CONNECTIONS: Type.Integer({
    minimum: 1,
    default: DEFAULT_CONNECTION_LIMITS.max,
    description: 'Open connections of the public port; over TLS that ends here, half as many',
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
  return {
    max: config.MAX_CONNECTIONS,
    maxPerSource: config.MAX_CONNECTIONS_PER_SOURCE,
    trustedProxies: rangesIn(config.TRUSTED_PROXY_CIDRS),
  };
}
