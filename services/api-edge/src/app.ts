import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { openAccounts } from '@gateway/accounts';
import { OperationReplied } from '@gateway/contracts';
import { createBrokerProbe, createKafka, createPublisher, createReplyListener } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  brokerList,
  createMetrics,
  createService,
  internalHost,
  listen,
  repeat,
  startOpsServer,
} from '@gateway/service-kit';
import { openVault } from '@gateway/vault';
import { createCardQueries } from './adapters/http/card-queries';
import { CARD_CONTENT_TYPES, createMerchantApi } from './adapters/http/merchant-api';
import { createBus } from './adapters/kafka/bus';
import { createJournal } from './adapters/mongo/journal';
import { handleCardRequest } from './application/handle-card-request';
import { createJournalCloser } from './application/journal-closer';
import { createPendingOutcomes } from './application/pending-outcomes';
import type { PendingOutcomes } from './application/pending-outcomes';
import type { SubmitPorts } from './application/submit';
import { sweepJournal } from './application/sweep-journal';
import type { Config } from './config';

const SERVICE = 'api-edge';
const SWEEP_EVERY_MS = 2_000;
const DRAIN_TIMEOUT_MS = 10_000;

export type ApiEdge = Service<{ api: number; ops: number }>;

export interface ApiEdgeDeps {
  config: Config;
  logger: Logger;
  now?: () => number;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
}

/** The merchants' API: checks each request, journals it, sends it as a command and answers with the outcome. */
export function createApiEdge(deps: ApiEdgeDeps): ApiEdge {
  return createService((onStop) => open(deps, onStop));
}

async function open(deps: ApiEdgeDeps, onStop: OnStop): Promise<ApiEdge['ports']> {
  const { config, logger } = deps;
  const now = deps.now ?? Date.now;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });
  const storage = { uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, logger, now };

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}edge` });
  onStop(() => mongo.close());
  const journal = createJournal(mongo, now);
  await journal.ensureIndexes();
  const vault = await openVault({ ...storage, ...config });
  onStop(() => vault.close());
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());
  const queries = createCardQueries({ url: config.CARD_QUERY_URL, serviceToken: config.SERVICE_TOKEN });

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const probe = createBrokerProbe({ kafka, logger });
  const replies = createReplyListener({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    declaration: OperationReplied,
    onReply: ({ data }) => pending.deliver(data),
    onPartitionsChanged: () => pending.askForAll(),
    onFatal: deps.onFatal,
    logger,
  });
  const pending: PendingOutcomes = createPendingOutcomes({
    ask: (merchantAccount, reference) => queries.outcome(merchantAccount, reference),
    repliesExpected: () => replies.ownedPartition() !== undefined,
    timeoutMs: config.REPLY_TIMEOUT_MS,
    now,
    logger,
  });
  const closer = createJournalCloser((references) => journal.close(references), logger);
  const hmacKey = Buffer.from(config.JOURNAL_HMAC_KEY, 'base64');

  const ports: SubmitPorts = {
    journal,
    queries,
    vault: vault.vault,
    bus: createBus({ publisher, probe, replies }),
    credentials: accounts.credentials,
    rateLimiter: accounts.rateLimiter,
    databaseAvailable: () => mongo.healthy(),
    now,
    randomBytes,
    bodyHash: (content) => createHmac('sha256', hmacKey).update(content).digest('base64'),
    replyTimeoutMs: config.REPLY_TIMEOUT_MS,
    logger,
    pending,
    closer,
  };
  const sweeper = repeat({
    name: 'sweeping the journal',
    everyMs: SWEEP_EVERY_MS,
    work: async () => void (await sweepJournal(ports)),
    logger,
  });

  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    metrics,
    readiness: () => ({ database: mongo.healthy() && vault.healthy() && accounts.healthy(), bus: probe.available() }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  await probe.start();
  onStop(() => probe.stop());
  closer.start();
  onStop(() => closer.stop());
  await replies.start();
  onStop(() => replies.stop());
  sweeper.start();
  onStop(() => sweeper.stop());

  const api = await listen({
    listener: createMerchantApi({
      endpoints: [
        {
          path: '/api/pf/host-to-host',
          contentTypes: CARD_CONTENT_TYPES,
          handle: (incoming) => handleCardRequest(ports, incoming),
        },
      ],
      trustedProxies: config.TRUSTED_PROXY_CIDRS.split(',').filter((cidr) => cidr !== ''),
      maxConcurrent: config.MAX_CONCURRENT_REQUESTS,
      bodyTimeoutMs: config.REQUEST_TIMEOUT_MS,
      now,
      logger,
      metrics,
    }),
    port: config.PORT,
    host: config.HOST,
    ...tlsServer(config),
  });
  // Requests that run get their answers first: replies and questions go on until the last one has left.
  onStop(() => api.close(DRAIN_TIMEOUT_MS));
  return { api: api.port, ops: ops.port };
}

function tlsServer(config: Config) {
  if (config.TLS_CERT_FILE === undefined || config.TLS_KEY_FILE === undefined) return {};
  return { server: createServer({ cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) }) };
}
