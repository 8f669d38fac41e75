import { randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import { createKafka, createPublisher, createWorker } from '@gateway/messaging';
import type { TimeSources } from '@gateway/mongo';
import { connectMongo, createOutbox, startDatabaseClock } from '@gateway/mongo';
import type { IsStarted, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  brokerList,
  createMetrics,
  createOwnerQueries,
  createService,
  internalHost,
  listen,
  repeat,
  startOpsServer,
} from '@gateway/service-kit';
import { createAddressGuard } from './adapters/http/address-guard';
import { createAdminApi } from './adapters/http/admin-api';
import type { CallbackTimeouts } from './adapters/http/callback-client';
import { createCallbackClient } from './adapters/http/callback-client';
import type { OutcomeQueries } from './adapters/http/outcome-queries';
import { createOutcomeQueries } from './adapters/http/outcome-queries';
import { outcomeHandlers } from './adapters/kafka/outcomes';
import { publishEntries } from './adapters/kafka/publications';
import { createMerchants } from './adapters/merchants';
import { createFigures, OVERDUE_MS, registerGauges } from './adapters/metrics';
import { createAttempts } from './adapters/mongo/attempts';
import { createDeliveries } from './adapters/mongo/deliveries';
import { attemptDelivery } from './application/attempt-delivery';
import { createClaimer, handBack } from './application/claim-due';
import { createDispatcher, DISPATCHER_LIMITS } from './application/dispatcher';
import type { Ports } from './application/ports';
import type { Config } from './config';
import type { CallbackKind } from './domain/callback';
import { retrySchedule } from './domain/retry-schedule';

const SERVICE = 'callback-dispatcher';
const LOOK_EVERY_MS = 200;
/** Outcomes that are put on record together travel in one write. */
const OUTCOMES_AT_ONCE = 128;
const DRAIN_TIMEOUT_MS = 5_000;

export type CallbackDispatcher = Service<{ admin: number; ops: number }>;

export interface CallbackDispatcherDeps extends TimeSources {
  config: Config;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
  /** From 0 up to 1. */
  random?: () => number;
  /** PEM: trusted instead of the usual authorities. */
  ca?: string;
  timeouts?: Partial<CallbackTimeouts>;
}

/** Tells merchants the final outcomes that were committed, again and again until they acknowledge. */
export function createCallbackDispatcher(deps: CallbackDispatcherDeps): CallbackDispatcher {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(
  deps: CallbackDispatcherDeps,
  onStop: OnStop,
  isStarted: IsStarted,
): Promise<CallbackDispatcher['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });

  const guard = createAddressGuard(config.CALLBACK_ALLOW_CIDRS);
  const client = createCallbackClient({ guard, ca: deps.ca, timeouts: deps.timeouts });
  // After the database: a call that is cut off stays on record as unfinished, not as failed.
  onStop(() => client.close());
  const queries = openQueries(config);
  onStop(() => Object.values(queries).forEach((owner) => owner.close()));
  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}callbacks` });
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
  const deliveries = createDeliveries(mongo, clock);
  const attempts = createAttempts(mongo);
  await Promise.all([deliveries.ensureIndexes(), attempts.ensureIndexes()]);
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const outbox = createOutbox({
    collection: deliveries.outboxes,
    publish: publishEntries(publisher),
    clock,
    metrics,
    logger,
  });
  const ports: Ports = {
    deliveries,
    attempts,
    merchants: createMerchants(accounts),
    customValues: ({ kind, merchantAccount, reference }) => queries[kind].customValues(merchantAccount, reference),
    post: (request) => client.post(request),
    publishEvents: (delivery) => outbox.publish(delivery),
    figures: createFigures(metrics),
    scheduleSeconds: retrySchedule(config.CALLBACK_RETRY_SCHEDULE),
    now,
    newId: randomUUID,
    random: deps.random ?? Math.random,
    logger,
  };
  const dispatcher = createDispatcher({
    limits: {
      ...DISPATCHER_LIMITS,
      concurrency: config.CALLBACK_CONCURRENCY,
      concurrencyPerMerchant: config.CALLBACK_CONCURRENCY_PER_MERCHANT,
      unprovenPerMerchant: config.CALLBACK_UNPROVEN_PER_MERCHANT,
      concurrencyPerAddress: config.CALLBACK_CONCURRENCY_PER_ADDRESS,
    },
    attempt: (delivery) => attemptDelivery(ports, delivery),
    handBack: (delivery) => handBack(ports, delivery),
    now,
    logger,
  });
  registerGauges({
    metrics,
    dispatcher,
    countOverdue: () => deliveries.countOverdue(now() - OVERDUE_MS),
    logger,
  });
  const worker = createWorker({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    handlers: outcomeHandlers(ports, dispatcher),
    otherTypes: 'skip',
    publisher,
    onFatal: deps.onFatal,
    limits: { concurrency: OUTCOMES_AT_ONCE },
    metrics,
    logger,
  });
  const { look } = createClaimer(ports, dispatcher);
  const claimer = repeat({
    name: 'looking for due callbacks',
    everyMs: LOOK_EVERY_MS,
    work: async () => void (await look()),
    logger,
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
  const admin = await listen({
    listener: createAdminApi(ports, config.SERVICE_TOKEN),
    port: config.CALLBACK_ADMIN_PORT,
    host,
  });
  onStop(() => admin.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  outbox.start();
  onStop(() => outbox.stop());
  onStop(() => dispatcher.stop(DRAIN_TIMEOUT_MS));
  await worker.start();
  claimer.start();
  onStop(() => Promise.all([worker.stop(), claimer.stop()]));
  return { admin: admin.port, ops: ops.port };
}

/** By what is told: its owner knows the custom values. */
function openQueries({ CARD_QUERY_URL, PAYOUT_QUERY_URL, SERVICE_TOKEN: serviceToken }: Config) {
  const cards = createOwnerQueries('card-processing', { url: CARD_QUERY_URL, serviceToken });
  const payouts = createOwnerQueries('payout', { url: PAYOUT_QUERY_URL, serviceToken });
  return {
    card: createOutcomeQueries(cards, '/operations'),
    payout: createOutcomeQueries(payouts, '/payouts'),
  } satisfies Record<CallbackKind, OutcomeQueries>;
}
