import { createGroupWatch, createKafka, createPublisher, createWorker } from '@gateway/messaging';
import type { TimeSources } from '@gateway/mongo';
import { connectMongo, startDatabaseClock } from '@gateway/mongo';
import type { IsStarted, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import { brokerList, createMetrics, createService, internalHost, repeat, startOpsServer } from '@gateway/service-kit';
import { cardEventHandlers, deadLetterHandler } from './adapters/kafka/card-events';
import { askToExpire } from './adapters/kafka/commands';
import { createAskCounter, registerGauges } from './adapters/metrics';
import { createDeadlines } from './adapters/mongo/deadlines';
import { createAllowance } from './application/allowance';
import { askDue } from './application/ask-due';
import { createRoom } from './application/room';
import type { Ports } from './application/ports';
import type { Config } from './config';

const SERVICE = 'auth-expiry';
const ASKED = 'card-processing';
const LOOK_EVERY_MS = 250;
/** Events that are taken together travel in one write. */
const EVENTS_AT_ONCE = 128;
const DRAIN_TIMEOUT_MS = 5_000;

export type AuthExpiry = Service<{ ops: number }>;

export interface AuthExpiryDeps extends TimeSources {
  config: Config;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
}

/** Keeps the end of every open hold, and asks card-processing for its VOID when the time has come. */
export function createAuthExpiry(deps: AuthExpiryDeps): AuthExpiry {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: AuthExpiryDeps, onStop: OnStop, isStarted: IsStarted): Promise<AuthExpiry['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}expiry` });
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
  const deadlines = createDeadlines(mongo, clock);
  await deadlines.ensureIndexes();
  registerGauges({ metrics, deadlines, now, logger });

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const queue = createGroupWatch({ kafka, groupId: ASKED, topic: 'cardCommands', topicPrefix });
  const ports: Ports = {
    deadlines,
    askToExpire: askToExpire(publisher),
    room: createRoom(() => queue.look(), now),
    asked: createAskCounter(metrics),
    now,
    logger,
  };
  const worker = createWorker({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    handlers: cardEventHandlers(ports),
    otherTypes: 'skip',
    publisher,
    onDeadLetter: deadLetterHandler(logger),
    onFatal: deps.onFatal,
    limits: { concurrency: EVENTS_AT_ONCE },
    metrics,
    logger,
  });
  const allowance = createAllowance(config.EXPIRY_RATE_PER_SECOND, now);
  const asker = repeat({
    name: 'asking for what is due',
    everyMs: LOOK_EVERY_MS,
    work: async () => void (await askDue(ports, allowance)),
    logger,
  });

  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    metrics,
    readiness: () => ({
      started: isStarted(),
      clock: clock.ready(),
      database: mongo.healthy(),
      consumer: worker.ready(),
    }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  await queue.start();
  onStop(() => queue.stop());
  await worker.start();
  asker.start();
  onStop(() => Promise.all([worker.stop(), asker.stop()]));
  return { ops: ops.port };
}
