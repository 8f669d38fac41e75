import { randomBytes } from 'node:crypto';
import type { Static, TObject } from '@sinclair/typebox';
import type { OpenAccounts } from '@gateway/accounts';
import { openAccounts } from '@gateway/accounts';
import type { MessageDeclaration } from '@gateway/contracts';
import type { Envelope, MessageHandler, Publisher, Worker } from '@gateway/messaging';
import { createWorker, on } from '@gateway/messaging';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { ServiceDeps } from '@gateway/service-frame';
import type { CommonConfig, Service } from '@gateway/service-kit';
import { createMetrics, loadConfig } from '@gateway/service-kit';
import { newVaultKeys } from '@gateway/vault';
import { failTest } from './fail-test';
import { startPublisher } from './publisher';
import { recordingLogger } from './recording-logger';
import type { Addresses, Space } from './space';
import { kafkaOf, openSpace, silentLogger } from './space';

const key = (bytes = 32): string => randomBytes(bytes).toString('base64');

/** Settings that services share, as environment variables: the servers, the space's names and new keys. */
export function environmentOf(space: Space): Record<string, string> {
  return {
    ...space.kafkaAccess,
    KAFKA_BROKERS: space.brokers,
    MONGODB_URI: space.mongoUri,
    TOPIC_PREFIX: space.topicPrefix,
    DATABASE_PREFIX: space.databasePrefix,
    ...newVaultKeys(),
    JOURNAL_HMAC_KEY: key(),
    THREEDS_PROOF_KEY: key(),
    DS_MESSAGE_KEY: key(),
  };
}

/** The keys of the accounts, in what {@link environmentOf} returns or a checkout keeps. */
export function accountKeysOf(env: Record<string, string | undefined>) {
  const { ACCOUNT_KEYS = '', SIGNING_PUBLIC_KEY = '', SIGNING_KEYS } = env;
  return { ACCOUNT_KEYS, SIGNING_PUBLIC_KEY, ...(SIGNING_KEYS === undefined ? {} : { SIGNING_KEYS }) };
}

export interface WorldOptions {
  /** Begins the names of topics and databases. */
  name: string;
  /** The service under test, and its database without prefix. */
  service: string;
  database: string;
  /** The service that the test plays: `source` of what it publishes. */
  source: string;
  /** Messages to collect in `events`. */
  observed?: readonly MessageDeclaration[];
  /** Default: the servers of the run. */
  servers?: Addresses;
}

/** Everything around the service under test. `Data`: data of the observed messages. */
export interface World<Data = unknown> {
  readonly space: Space;
  /** Settings that services share, as environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The database of the service under test. */
  readonly mongo: MongoConnection;
  readonly accounts: OpenAccounts;
  readonly publisher: Publisher;
  /** Each observed message once, even if it was published again. */
  readonly events: Envelope<Data>[];
  /** Log lines of all services. */
  readonly lines: string[];
  /** The time of all services, in epoch ms. */
  now(): number;
  /** Lets time pass for all services. */
  pass(ms: number): void;
  /** Joins a consumer group with these handlers, until the world closes. */
  consume(groupId: string, handlers: readonly MessageHandler[]): Promise<Worker>;
  /** Starts a replica, which runs until `stopServices` or `close`. `env` overrides the shared settings. */
  start<Schema extends TObject, Running extends Service>(
    settings: Schema,
    env: Record<string, string>,
    create: (deps: WorldDeps<Readonly<Static<Schema>>>) => Running,
  ): Promise<Running>;
  stopServices(): Promise<void>;
  close(): Promise<void>;
}

/** What the world hands to a service. Tests may replace parts of it. */
export type WorldDeps<Config> = Required<Pick<ServiceDeps<Config & CommonConfig>, 'logger' | 'metrics' | 'now'>> & {
  config: Config;
  env: Record<string, string>;
  onFatal: (error: Error) => void;
};

/** Opens topics, databases, accounts and a publisher for the tests of one service. Its clock runs ahead on request. */
export async function openWorld<Data = unknown>(options: WorldOptions): Promise<World<Data>> {
  const space = await openSpace(options.name, options.servers);
  const shared = environmentOf(space);
  const { mongoUri: uri, databasePrefix } = space;
  const accounts = await openAccounts({ uri, databasePrefix, ...accountKeysOf(shared) });
  const mongo = await connectMongo({ uri, database: databasePrefix + options.database });
  const publisher = await startPublisher(space, options.source);
  const events: Envelope<Data>[] = [];
  const lines: string[] = [];
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const services: Service[] = [];
  const consumers: Worker[] = [];

  async function consume(groupId: string, handlers: readonly MessageHandler[]): Promise<Worker> {
    const worker = await startWorker(space, publisher, groupId, handlers);
    consumers.push(worker);
    return worker;
  }

  async function observe(event: Envelope<Data>): Promise<void> {
    if (!events.some(({ id }) => id === event.id)) events.push(event);
  }

  const stopServices = (): Promise<void> => inTurn(services.splice(0).map((service) => () => service.stop()));

  const { observed = [] } = options;
  if (observed.length > 0) {
    const handlers = observed.map((declaration) => on(declaration as MessageDeclaration<Data>, observe));
    await consume('observer', handlers);
  }
  return {
    space,
    env: shared,
    mongo,
    accounts,
    publisher,
    events,
    lines,
    now,
    pass: (ms) => void (aheadMs += ms),
    consume,
    async start(settings, overrides, create) {
      const env = { ...shared, ...overrides };
      const service = create({
        config: loadConfig(settings, env),
        env,
        logger: recordingLogger(lines),
        metrics: createMetrics(options.service, { processFigures: false }),
        now,
        onFatal: failTest,
      });
      await service.start();
      services.push(service);
      return service;
    },
    stopServices,
    close: () =>
      inTurn([
        stopServices,
        ...consumers.map((worker) => () => worker.stop()),
        () => publisher.stop(),
        () => mongo.close(),
        () => accounts.close(),
        () => space.remove(),
      ]),
  };
}

async function startWorker(
  space: Space,
  publisher: Publisher,
  groupId: string,
  handlers: readonly MessageHandler[],
): Promise<Worker> {
  const worker = createWorker({
    kafka: kafkaOf(space),
    groupId,
    topicPrefix: space.topicPrefix,
    handlers,
    publisher,
    onFatal: failTest,
    metrics: createMetrics(groupId, { processFigures: false }),
    logger: silentLogger,
  });
  await worker.start();
  return worker;
}

/** Takes all steps, even if one fails, and throws the first error. */
async function inTurn(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
