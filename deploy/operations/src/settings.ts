import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { accountsProductionRules, accountsSettings } from '@gateway/accounts';
import { auditSettings } from '@gateway/audit';
import { settings as callbackDispatcher } from '@gateway/callback-dispatcher/dist/config';
import { DEAD_LETTER_RETENTION_DAYS, DEFAULT_PARTITIONS } from '@gateway/contracts';
import type { Environment, Logger, Print, ProductionRule } from '@gateway/service-kit';
import {
  authorityFile,
  calledAddress,
  commonSettings,
  ConfigurationError,
  kafkaProductionRules,
  kafkaSchema,
  loadConfig,
  mongoProductionRules,
  mongoSchema,
  operatorSettings,
  requireThisMachine,
  retentionSettings,
  secretFolder,
  secretText,
} from '@gateway/service-kit';

/** Kafka brokers cope with a few thousand partitions in total. */
const PARTITIONS_MAX = 500;
const REPLICAS_MAX = 100;

const keepOrApply = (description: string) =>
  Type.Union([Type.Literal('keep'), Type.Literal('apply')], { default: 'keep', description });

const deployment = Type.Object({
  ...kafkaSchema.properties,
  ...mongoSchema.properties,
  KAFKA_PARTITIONS: Type.Integer({
    minimum: 1,
    maximum: PARTITIONS_MAX,
    default: DEFAULT_PARTITIONS,
    description:
      'Partitions of new topics, and of those without a message so far, dead letters excepted. With fewer in one that has messages, provisioning exits 1: grow it with the [runbook](runbook.md#growing-the-number-of-partitions)',
  }),
  KAFKA_REPLICATION_FACTOR: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REPLICAS_MAX,
      description:
        'Replicas of new topics; unset, 3 on three brokers or more and 1 on fewer, or the most that an existing topic has',
    }),
  ),
  KAFKA_MIN_INSYNC_REPLICAS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REPLICAS_MAX,
      description: 'Replicas that must acknowledge a message; unset, 2 for topics with three replicas or more, else 1',
    }),
  ),
  DEAD_LETTER_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 24_000,
    default: DEAD_LETTER_RETENTION_DAYS,
    description: 'How long dead letters are kept',
  }),
  KAFKA_ACCESS: keepOrApply(
    '`apply` adds the access lists that the services and command lines lack; `KAFKA_USER`, or the certificate, must be a super user',
  ),
  KAFKA_PRINCIPAL: Type.String({
    default: 'User:{user}',
    pattern: '^\\w+:.*\\{user\\}',
    description:
      "Kafka's name of a user in these lists, `{user}` in it the name here: `User:CN={user}` with certificates",
  }),
  KAFKA_PASSWORDS_DIR: Type.Optional(
    secretFolder({
      description:
        'With `KAFKA_ACCESS=apply`: folder of files named after services and command lines, each with the password of its SCRAM-SHA-512 user, which is created or changed',
    }),
  ),
  MONGODB_ACCESS: keepOrApply(
    '`apply` gives the role of each service and command line exactly what it needs; `MONGODB_URI` must name an administrator of users',
  ),
  MONGODB_PASSWORDS_DIR: Type.Optional(
    secretFolder({
      description:
        'With `MONGODB_ACCESS=apply`: folder of files named after services and command lines, each with the password of its user, which is created or changed',
    }),
  ),
  ...retentionSettings,
  ...auditSettings,
  CALLBACK_RETENTION_DAYS: callbackDispatcher.properties.CALLBACK_RETENTION_DAYS,
  DEMO_ACCOUNTS: Type.Union([Type.Literal('no'), Type.Literal('yes')], {
    default: 'no',
    description:
      '`yes` creates the demo accounts, whose passwords are public. Needs `ACCOUNT_KEYS`, `SIGNING_PUBLIC_KEY`, and `IDENTITY_TOKEN` and `CALLERS_FILE` of an operator',
  }),
});
/** Settings that say how a deployment looks. */
export const deploymentSettings = deployment.properties;
export type DeploymentConfig = Readonly<Static<typeof deployment>>;

const registrySettings = {
  SCHEMA_REGISTRY_URL: Type.Optional(
    calledAddress({
      description:
        "Registry for the schemas of events, with Confluent's REST API: of Apicurio, its address with `/apis/ccompat/v7`. Unset, none are uploaded",
    }),
  ),
  SCHEMA_REGISTRY_CA_FILE: authorityFile('that registry'),
  SCHEMA_REGISTRY_USER: Type.Optional(
    Type.String({
      minLength: 1,
      pattern: '^[^:]+$',
      description: 'User there, by HTTP Basic; or the id of an API key',
    }),
  ),
  SCHEMA_REGISTRY_PASSWORD: Type.Optional(
    secretText({ description: 'Password of that user, or the secret of the key' }),
  ),
};

export const settings = Type.Object({
  ...deploymentSettings,
  ...registrySettings,
  DEVELOPMENT_REACH: commonSettings.DEVELOPMENT_REACH,
});

export type Config = Readonly<Static<typeof settings>>;

/** What each part of provisioning works with. */
export interface Provisioning {
  config: Config;
  /** For the demo accounts, whose creation is audited. */
  env: Environment;
  logger: Logger;
  print: Print;
}

const demoAccountsArePublic: ProductionRule<Config> = ({ DEMO_ACCOUNTS }) =>
  DEMO_ACCOUNTS === 'yes' ? 'DEMO_ACCOUNTS is yes, and the passwords of the demo accounts are public.' : undefined;

export const productionRules: readonly ProductionRule<Config>[] = [
  ...kafkaProductionRules,
  ...mongoProductionRules,
  demoAccountsArePublic,
];

const withDemoAccounts = Type.Object({ ...settings.properties, ...accountsSettings, ...operatorSettings.properties });

/** @throws ConfigurationError that names everything that is missing or wrong */
export function readConfig(env: Environment): Config {
  const config =
    env['DEMO_ACCOUNTS'] === 'yes'
      ? loadConfig(withDemoAccounts, env, [...productionRules, ...accountsProductionRules])
      : loadConfig(settings, env, productionRules);
  const problems = (['KAFKA', 'MONGODB'] as const)
    .filter((server) => config[`${server}_PASSWORDS_DIR`] !== undefined && config[`${server}_ACCESS`] === 'keep')
    .map((server) => `${server}_PASSWORDS_DIR needs ${server}_ACCESS=apply`);
  if ((config.SCHEMA_REGISTRY_USER === undefined) !== (config.SCHEMA_REGISTRY_PASSWORD === undefined)) {
    problems.push('SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD need each other');
  }
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  requireThisMachine(registrySettings, config);
  return config;
}
