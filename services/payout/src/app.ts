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
import { openBanks } from './adapters/banks/banks';
import { createPayoutApi } from './adapters/http/internal-api';
import { deadLetterHandler, messageHandlers } from './adapters/kafka/commands';
import { publishEntries } from './adapters/kafka/publications';
import { createPayouts } from './adapters/mongo/payouts';
import { createReservations } from './adapters/mongo/reservations';
import { applyNews } from './application/apply-news';
import type { Ports } from './application/ports';
import { createResolver } from './application/resolve-payouts';
import { createScreening } from './application/screen-payout';
import type { Screening } from './application/screening-ports';
import type { Config } from './config';

const SERVICE = 'payout';
const RESOLVE_EVERY_MS = 250;
const DRAIN_TIMEOUT_MS = 5_000;
/** Beyond this at the stop, submissions are left to the resolver of any replica. */
const CALLS_DRAIN_TIMEOUT_MS = 8_000;

export type Payout = Service<{ query: number; ops: number }>;

export interface PayoutDeps extends TimeSources {
  config: Config;
  /** For the connectors' own settings. */
  env: Record<string, string | undefined>;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
  /** In place of the accounts' rules, for tests. */
  screening?: Screening;
}

/** Owns payouts: takes commands, screens, tells banks, keeps every payout on record, answers for the outcome. */
export function createPayout(deps: PayoutDeps): Payout {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: PayoutDeps, onStop: OnStop, isStarted: IsStarted): Promise<Payout['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}payouts` });
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
  const storage = { uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, now };
  const payouts = createPayouts(mongo, clock);
  const reservations = createReservations(mongo, { now });
  await Promise.all([payouts.ensureIndexes(), reservations.ensureIndexes()]);
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const outbox = createOutbox({
    collection: payouts.outboxes,
    publish: publishEntries(publisher),
    clock,
    metrics,
    logger,
  });
  const banks = await openBanks(config.PAYOUT_BANK, {
    env: deps.env,
    callsAtOnce: config.BANK_CALLS_AT_ONCE,
    mongo,
    logger,
    metrics,
    clock,
  });
  const calls = createDetachedWork({
    name: 'a submission to a bank, which is left to the resolver,',
    max: config.BANK_CALLS_AT_ONCE,
    logger,
  });
  const ports: Ports = {
    payouts,
    accounts: accounts.directory,
    screening:
      deps.screening ??
      createScreening({ reservations, accounts: accounts.directory, hasBeenPaid: payouts.hasBeenPaid }),
    bankFor: (currency) => banks.nameFor(currency),
    bank: (name) => banks.get(name),
    calls,
    publishEvents: (payout) => outbox.publish(payout),
    now,
    newId: randomUUID,
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
  const resolver = createResolver(ports, {
    everyMs: RESOLVE_EVERY_MS,
    atOnce: Math.floor(config.BANK_CALLS_AT_ONCE / 2),
  });

  const host = internalHost(config.SERVICE_TOKEN);
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host,
    metrics,
    readiness: () => ({
      started: isStarted(),
      clock: clock.ready(),
      database: mongo.healthy() && accounts.healthy(),
      consumer: worker.ready(),
    }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  const batches = banks.all.find(({ operations }) => operations !== undefined)?.operations;
  const query = await listen({
    listener: createPayoutApi(ports, { batches, serviceToken: config.SERVICE_TOKEN }),
    port: config.PAYOUT_QUERY_PORT,
    host,
  });
  onStop(() => query.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  outbox.start();
  onStop(() => outbox.stop());
  // After the worker, whose handlers still call them; before the outbox, which takes what their news lead to.
  onStop(() => Promise.all(banks.all.map((bank) => bank.stop())));
  await Promise.all(banks.all.map((bank) => bank.start((news) => applyNews(ports, bank.name, news))));
  await worker.start();
  resolver.start();
  onStop(async () => {
    await worker.stop();
    await Promise.all([calls.drain(CALLS_DRAIN_TIMEOUT_MS), resolver.stop(CALLS_DRAIN_TIMEOUT_MS)]);
  });
  return { query: query.port, ops: ops.port };
}
