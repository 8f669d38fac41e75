import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { openAccounts } from '@gateway/accounts';
import { OperationReplied } from '@gateway/contracts';
import { createBrokerProbe, createKafka, createPublisher, createReplyListener } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { Logger, Registry, Service } from '@gateway/service-kit';
import { brokerList, createMetrics, internalHost, listen, repeat, startOpsServer } from '@gateway/service-kit';
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

export interface ApiEdge extends Service {
  readonly port: number;
  readonly opsPort: number;
}

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
  let running: Running | undefined;
  return {
    async start() {
      running = await open(deps);
    },
    async stop() {
      await running?.stop();
      running = undefined;
    },
    get port() {
      return running?.port ?? 0;
    },
    get opsPort() {
      return running?.opsPort ?? 0;
    },
  };
}

interface Running {
  port: number;
  opsPort: number;
  stop(): Promise<void>;
}

async function open(deps: ApiEdgeDeps): Promise<Running> {
  const { config, logger } = deps;
  const now = deps.now ?? Date.now;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });
  const storage = { uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, logger, now };

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}edge` });
  const journal = createJournal(mongo, now);
  await journal.ensureIndexes();
  const vault = await openVault({ ...storage, ...config });
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
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

  await publisher.start();
  await probe.start();
  await replies.start();
  closer.start();
  sweeper.start();

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
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    metrics,
    readiness: () => ({ database: mongo.healthy() && vault.healthy() && accounts.healthy(), bus: probe.available() }),
  });

  return {
    port: api.port,
    opsPort: ops.port,
    async stop() {
      // Requests that run get their answers first: replies and questions go on until the last one has left.
      await api.close(DRAIN_TIMEOUT_MS);
      await sweeper.stop();
      await replies.stop();
      await closer.stop();
      await probe.stop();
      await publisher.stop();
      await Promise.all([vault.close(), accounts.close(), mongo.close()]);
      await ops.close(DRAIN_TIMEOUT_MS);
    },
  };
}

function tlsServer(config: Config) {
  if (config.TLS_CERT_FILE === undefined || config.TLS_KEY_FILE === undefined) return {};
  return { server: createServer({ cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) }) };
}
