import type { ServiceDeclaration } from '@gateway/contracts';
import type { KafkaClient, Publisher } from '@gateway/messaging';
import { createKafka, createPublisher, kafkaConnection } from '@gateway/messaging';
import type {
  Clock,
  Collection,
  DatabaseAddress,
  DatabaseClock,
  MongoConnection,
  Outbox,
  OutboxOwner,
  PublishEntries,
  TimeSources,
} from '@gateway/mongo';
import { connectMongo, createOutbox, startDatabaseClock, watchLogin } from '@gateway/mongo';
import type {
  CommonConfig,
  HeldKey,
  HeldKeys,
  Logger,
  OnStop,
  Registry,
  Repeating,
  RepeatOptions,
  Tracer,
} from '@gateway/service-kit';
import { createMetrics, mongoCertificateOf, repeat, showClientCertificates } from '@gateway/service-kit';
import type { RecoveryMode, RecoveryWatch } from './recovery';
import { openRecovery } from './recovery';
import { openServiceTracing } from './tracing';

/** What a process, or a test, hands to a service. */
export interface ServiceDeps<Config extends CommonConfig> extends TimeSources {
  config: Config;
  logger: Logger;
  /** Default: a new registry that includes the figures of the process. */
  metrics?: Registry;
  /** The process cannot continue and should exit. Never throws. */
  onFatal: (error: Error) => void;
}

/** A further database, such as the vault's. */
export interface DatabaseClient {
  /** False once it has lost the primary. */
  healthy(): boolean;
  /** With which it was opened. */
  readonly heldKeys?: HeldKeys;
  close(): Promise<void>;
}

/** The connections and tools that every service has. */
export interface Frame<Config extends CommonConfig> {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly tracer: Tracer;
  /** The service's own database. */
  readonly mongo: MongoConnection;
  readonly clock: DatabaseClock;
  readonly kafka: KafkaClient;
  readonly topicPrefix: string;
  /** Starts after `open` has returned. */
  readonly publisher: Publisher;
  /**
   * For libraries with a database of their own: `openCardReader({ ...frame.storage, ...config })`. They share the
   * service's client.
   */
  readonly storage: DatabaseAddress & { databasePrefix: string; now: () => number; logger: Logger };
  readonly recovery: RecoveryMode;
  /** Registers a further database: it counts for readiness, shows its keys, and closes when the service stops. Returns it. */
  database<T extends DatabaseClient>(client: T): T;
  /** True while no database has lost its primary. */
  databasesHealthy(): boolean;
  /** The outbox of the service's aggregates. It starts after the publisher and stops before it. */
  outbox(collection: Collection<OutboxOwner>, publish: PublishEntries): Outbox;
  repeat(options: Omit<RepeatOptions, 'logger'>): Repeating;
  /** Closes when everything that started has stopped, in reverse order of registration. */
  onStop: OnStop;
  /** Closes last: faults that this causes are no longer stored. */
  onStopLast: OnStop;
}

/** What a service's `ensureIndexes` needs: any frame has it, and provisioning makes it without the rest. */
export interface IndexContext<Config> {
  readonly config: Config;
  /** The service's own database. */
  readonly mongo: MongoConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False in provisioning: only the service that keeps the documents may keep them for a shorter time. */
  readonly mayShorten?: boolean;
}

/** A frame, and the outboxes that it has to start. */
export interface OpenFrame<Config extends CommonConfig> {
  frame: Frame<Config>;
  outboxes: readonly Outbox[];
  /** Of all databases. */
  heldKeys: HeldKeys;
  recovery: RecoveryWatch;
}

/** Opens the database and reads its clock. Kafka connects later, when the publisher starts. */
export async function openFrame<Config extends CommonConfig>(
  { service, deps }: { service: ServiceDeclaration; deps: ServiceDeps<Config> },
  onStop: OnStop,
): Promise<OpenFrame<Config>> {
  const { name } = service;
  const { config, logger } = deps;
  const connection = kafkaConnection(config);
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix, TOPIC_PREFIX: topicPrefix } = config;
  const metrics = deps.metrics ?? createMetrics(name, { processFigures: true });
  showClientCertificates({ kafka: config.KAFKA_CERT_FILE, mongodb: mongoCertificateOf(uri) }, metrics);
  const tracing = await openServiceTracing(name, { config, metrics, logger });
  const { tracer } = tracing;
  onStop(() => tracing.stop());
  const last: Parameters<OnStop>[0][] = [];
  onStop(async () => {
    for (const close of last.reverse()) await close();
  });
  const mongo = await connectMongo({ uri, database: databasePrefix + service.database });
  onStop(() => mongo.close());
  const watch = watchLogin({ login: mongo.login, logger, onFatal: deps.onFatal });
  onStop(() => watch.stop());
  watch.start();
  const clock = await startDatabaseClock({
    mongo,
    maxSkewMs: config.MAX_CLOCK_SKEW_MS,
    sources: deps,
    metrics,
    logger,
  });
  onStop(() => clock.stop());
  const recovery = await openRecovery({ mongo, clock, onFatal: deps.onFatal, metrics, logger });
  const kafka = createKafka({ ...connection, clientId: name, logger });
  const databases: DatabaseClient[] = [mongo];
  const outboxes: Outbox[] = [];
  const heldKeys: Record<string, readonly HeldKey[]> = {};

  const frame: Frame<Config> = {
    config,
    logger,
    metrics,
    tracer,
    mongo,
    clock,
    kafka,
    topicPrefix,
    publisher: createPublisher({ kafka, source: name, topicPrefix, uses: service, tracer, metrics, logger }),
    storage: { uri, mongo, databasePrefix, now: clock.now, logger },
    database(client) {
      databases.push(client);
      Object.assign(heldKeys, client.heldKeys);
      onStop(() => client.close());
      return client;
    },
    recovery,
    databasesHealthy: () => databases.every((client) => client.healthy()),
    outbox(collection, publish) {
      const outbox = createOutbox({ collection, publish, clock, metrics, logger });
      outboxes.push(outbox);
      return outbox;
    },
    repeat: (repetition) => repeat({ ...repetition, logger }),
    onStop,
    onStopLast: (close) => void last.push(close),
  };
  return { frame, outboxes, heldKeys, recovery };
}
