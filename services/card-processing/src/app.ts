import { randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import { createKafka, createPublisher, createWorker } from '@gateway/messaging';
import type { TimeSources } from '@gateway/mongo';
import { connectMongo, createOutbox, startDatabaseClock } from '@gateway/mongo';
import type { IsStarted, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  brokerList,
  createDetachedWork,
  createMetrics,
  createService,
  internalHost,
  listen,
  startOpsServer,
} from '@gateway/service-kit';
import { openVault } from '@gateway/vault';
import { openConnectors } from './adapters/acquirers/connectors';
import { createQueryApi } from './adapters/http/query-api';
import { messageHandlers, deadLetterHandler } from './adapters/kafka/commands';
import { publishEntries, sendReply } from './adapters/kafka/publications';
import { createPayments } from './adapters/mongo/payments';
import type { Ports } from './application/ports';
import { createResolver } from './application/resolve-outcomes';
import type { Config } from './config';
import { parseHolds } from './domain/holds';

const SERVICE = 'card-processing';
const RESOLVE_EVERY_MS = 250;
/** The threeds service ends a challenge first, unless it has lost it. */
const AUTHENTICATION_MARGIN_SECONDS = 300;
const DRAIN_TIMEOUT_MS = 5_000;
/** Beyond this at the stop, calls are left to the resolver of any replica. */
const CALLS_DRAIN_TIMEOUT_MS = 8_000;
/** Calls that run or wait, and answers on their way into the database; beyond it, commands wait. */
const CALLS_UNDER_WAY_FACTOR = 4;

export type CardProcessing = Service<{ query: number; ops: number }>;

export interface CardProcessingDeps extends TimeSources {
  config: Config;
  /** For the connectors' own settings. */
  env: Record<string, string | undefined>;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
}

/** Owns card payments: takes commands, keeps every operation on record, calls acquirers, answers for the outcome. */
export function createCardProcessing(deps: CardProcessingDeps): CardProcessing {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: CardProcessingDeps, onStop: OnStop, isStarted: IsStarted): Promise<CardProcessing['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });
  const holds = parseHolds(config.AUTH_HOLDS);

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}cards` });
  onStop(() => mongo.close());
  const clock = await startDatabaseClock({
    mongo,
    maxSkewMs: config.MAX_CLOCK_SKEW_MS,
    sources: deps,
    metrics,
    logger,
  });
  onStop(() => clock.stop());
  const { now } = clock;
  const storage = { uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, logger, now };
  const payments = createPayments(mongo, clock);
  await payments.ensureIndexes();
  const vault = await openVault({ ...storage, ...config });
  onStop(() => vault.close());
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());
  const connectors = openConnectors(config.ACQUIRERS.split(','), {
    env: deps.env,
    callsAtOnce: config.ACQUIRER_CALLS_AT_ONCE,
    metrics,
  });
  onStop(() => connectors.forEach((connector) => connector.close()));

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const outbox = createOutbox({
    collection: payments.outboxes,
    publish: publishEntries(publisher),
    clock,
    metrics,
    logger,
  });
  const calls = createDetachedWork({
    name: 'a call to an acquirer, which is left to the resolver,',
    max: CALLS_UNDER_WAY_FACTOR * config.ACQUIRER_CALLS_AT_ONCE,
    logger,
  });
  const ports: Ports = {
    payments,
    cards: vault.vault,
    accounts: accounts.directory,
    connector: (name) => connectors.get(name),
    calls,
    publishEvents: (payment) => outbox.publish(payment),
    reply: sendReply(publisher, logger),
    now,
    newId: randomUUID,
    holdSeconds: config.AUTH_HOLD_SECONDS,
    holds,
    authenticationPatienceMs: (config.CHALLENGE_TIMEOUT_SECONDS + AUTHENTICATION_MARGIN_SECONDS) * 1000,
    logger,
  };
  const worker = createWorker({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    handlers: messageHandlers(ports),
    publisher,
    onDeadLetter: deadLetterHandler(ports),
    onFatal: deps.onFatal,
    limits: { concurrency: config.CONCURRENCY },
    metrics,
    logger,
  });
  const resolver = createResolver(ports, RESOLVE_EVERY_MS);

  const host = internalHost(config.SERVICE_TOKEN);
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host,
    metrics,
    readiness: () => ({
      started: isStarted(),
      clock: clock.ready(),
      database: mongo.healthy() && vault.healthy() && accounts.healthy(),
      consumer: worker.ready(),
    }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  const query = await listen({
    listener: createQueryApi(ports, config.SERVICE_TOKEN),
    port: config.CARD_QUERY_PORT,
    host,
  });
  onStop(() => query.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  outbox.start();
  onStop(() => outbox.stop());
  await worker.start();
  resolver.start();
  onStop(async () => {
    await worker.stop();
    const draining = [calls.drain(CALLS_DRAIN_TIMEOUT_MS), resolver.stop(CALLS_DRAIN_TIMEOUT_MS)];
    const [left = 0] = await Promise.all(draining);
    if (left > 0) logger.warn('calls are left to the resolver', { calls: left });
  });
  return { query: query.port, ops: ops.port };
}
