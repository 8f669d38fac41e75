import { randomBytes, randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import { createKafka, createPublisher, createWorker } from '@gateway/messaging';
import type { TimeSources } from '@gateway/mongo';
import { connectMongo, createOutbox, startDatabaseClock } from '@gateway/mongo';
import type { IsStarted, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  brokerList,
  connectionLimitsOf,
  createBodyReader,
  createDetachedWork,
  createMetrics,
  createService,
  internalHost,
  listen,
  repeat,
  Secret,
  startOpsServer,
} from '@gateway/service-kit';
import { openVault } from '@gateway/vault';
import { createDirectory } from './adapters/emv/directory';
import { BODY_TIMEOUT_MS, createPublicSite, NOTIFICATION_PATH, RESULTS_PATH } from './adapters/http/public-site';
import { commandHandlers, deadLetterHandler } from './adapters/kafka/commands';
import { publishEntries } from './adapters/kafka/publications';
import { createAuthentications } from './adapters/mongo/authentications';
import { countOutcomes } from './adapters/outcomes';
import { createAskAgain } from './application/ask-again';
import { expireChallenges } from './application/expire-challenges';
import type { Ports } from './application/ports';
import { createProofs } from './application/proofs';
import type { Config } from './config';

const SERVICE = 'threeds';
const EXPIRE_EVERY_MS = 1_000;
const ASK_AGAIN_EVERY_MS = 1_000;
/** Calls that run or wait, and answers on their way into the database; beyond it, commands wait. */
const CALLS_UNDER_WAY_FACTOR = 4;
/** Beyond this at the stop, any replica asks again. */
const CALLS_DRAIN_TIMEOUT_MS = 8_000;
const DRAIN_TIMEOUT_MS = 5_000;
const PAGE_ID_BYTES = 24;
const SECOND_MS = 1_000;

export type Threeds = Service<{ http: number; ops: number }>;

export interface ThreedsDeps extends TimeSources {
  config: Config;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
}

/** Authenticates cardholders: asks the directory server, leads browsers through challenges, tells what came out. */
export function createThreeds(deps: ThreedsDeps): Threeds {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: ThreedsDeps, onStop: OnStop, isStarted: IsStarted): Promise<Threeds['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });
  const publicUrl = config.THREEDS_PUBLIC_URL;

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}threeds` });
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
  const authentications = createAuthentications(mongo, clock);
  await authentications.ensureIndexes();
  const vault = await openVault({ ...storage, ...config });
  onStop(() => vault.close());
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());
  const directory = createDirectory({
    url: config.DIRECTORY_SERVER_URL,
    timeoutMs: config.DIRECTORY_TIMEOUT_MS,
    callsAtOnce: config.DIRECTORY_CALLS_AT_ONCE,
    own: { results: publicUrl + RESULTS_PATH, notification: publicUrl + NOTIFICATION_PATH, publicUrl },
    metrics,
    logger,
  });
  onStop(() => directory.close());

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const outbox = createOutbox({
    collection: authentications.outboxes,
    publish: publishEntries(publisher),
    clock,
    metrics,
    logger,
  });
  const calls = createDetachedWork({
    name: 'a call to the directory server, which any replica makes again,',
    max: CALLS_UNDER_WAY_FACTOR * config.DIRECTORY_CALLS_AT_ONCE,
    logger,
  });
  const ports: Ports = {
    authentications,
    cards: vault.vault,
    accounts: accounts.directory,
    directory,
    calls,
    proofs: createProofs(keyOf(config.THREEDS_PROOF_KEY)),
    publishEvents: (authentication) => outbox.publish(authentication),
    recorded: countOutcomes(metrics),
    newPageId: () => randomBytes(PAGE_ID_BYTES).toString('base64url'),
    newId: randomUUID,
    now,
    publicUrl,
    challengeTimeoutMs: config.CHALLENGE_TIMEOUT_SECONDS * SECOND_MS,
    logger,
  };
  const worker = createWorker({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    handlers: commandHandlers(ports),
    publisher,
    onDeadLetter: deadLetterHandler(ports),
    onFatal: deps.onFatal,
    metrics,
    logger,
  });
  const askAgain = createAskAgain(ports, ASK_AGAIN_EVERY_MS);
  let stopping = false;
  const expiry = repeat({
    name: 'expiring challenges',
    everyMs: EXPIRE_EVERY_MS,
    work: async () => void (await expireChallenges(ports, () => stopping)),
    logger,
  });

  await publisher.start();
  onStop(() => publisher.stop());
  outbox.start();
  onStop(() => outbox.stop());
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    metrics,
    readiness: () => ({
      started: isStarted(),
      clock: clock.ready(),
      database: mongo.healthy() && vault.healthy() && accounts.healthy(),
      consumer: worker.ready(),
    }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  const connections = connectionLimitsOf(config);
  const http = await listen({
    listener: createPublicSite({
      ports,
      messageKey: keyOf(config.DS_MESSAGE_KEY),
      bodies: createBodyReader(),
      trustedProxies: connections.trustedProxies,
      logger,
    }),
    port: config.THREEDS_PORT,
    host: config.HOST,
    requestTimeoutMs: BODY_TIMEOUT_MS,
    connections,
    metrics,
  });
  onStop(() => http.close(DRAIN_TIMEOUT_MS));
  await worker.start();
  expiry.start();
  askAgain.start();
  onStop(async () => {
    stopping = true;
    await Promise.all([worker.stop(), expiry.stop(), askAgain.stop(CALLS_DRAIN_TIMEOUT_MS)]);
    await calls.drain(CALLS_DRAIN_TIMEOUT_MS);
  });
  return { http: http.port, ops: ops.port };
}

function keyOf(base64: string): Secret<Buffer> {
  return new Secret(Buffer.from(base64, 'base64'));
}
