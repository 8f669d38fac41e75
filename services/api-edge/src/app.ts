import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { isOpen, openAccounts } from '@gateway/accounts';
import { OperationReplied } from '@gateway/contracts';
import { createBrokerProbe, createKafka, createPublisher, createReplyListener } from '@gateway/messaging';
import type { TimeSources } from '@gateway/mongo';
import { connectMongo, isOutOfDiskSpace, startDatabaseClock } from '@gateway/mongo';
import type { IsStarted, ListenOptions, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  brokerList,
  connectionLimitsOf,
  createBodyReader,
  createMetrics,
  createOwnerQueries,
  createService,
  DEFAULT_BODY_LIMITS,
  internalHost,
  listen,
  repeat,
  startOpsServer,
} from '@gateway/service-kit';
import { openVault } from '@gateway/vault';
import { createAccountSlots } from './adapters/account-slots';
import { isoBankAddresses } from './adapters/bank-addresses/iso';
import { createCardQueries } from './adapters/http/card-queries';
import { createCheckoutPages, isForPages } from './adapters/http/checkout-pages';
import type { MerchantEndpoint } from './adapters/http/merchant-api';
import { CARD_CONTENT_TYPES, PAYOUT_CONTENT_TYPES, createMerchantApi } from './adapters/http/merchant-api';
import { createPayoutQueries } from './adapters/http/payout-queries';
import { createBus } from './adapters/kafka/bus';
import { createCheckouts } from './adapters/mongo/checkouts';
import { createJournal } from './adapters/mongo/journal';
import { showCheckout, submitCard } from './application/checkout-page';
import type { CheckoutPorts } from './application/checkout-ports';
import { createDiskWatch } from './application/disk-watch';
import { handleCardRequest } from './application/handle-card-request';
import { handleCheckoutRequest } from './application/handle-checkout-request';
import { handlePayoutCheck } from './application/handle-payout-check';
import { handlePayoutQuery } from './application/handle-payout-query';
import type { InitiatePorts } from './application/handle-payout-request';
import { createPayoutRequestHandler } from './application/handle-payout-request';
import { createJournalCloser } from './application/journal-closer';
import { createLateEntries } from './application/late-entries';
import type { AnnouncingBus } from './application/ports';
import { createPendingOutcomes } from './application/pending-outcomes';
import type { PendingOutcomes } from './application/pending-outcomes';
import { sweepCheckouts } from './application/sweep-checkouts';
import { sweepJournal } from './application/sweep-journal';
import type { Config } from './config';

const SERVICE = 'api-edge';
const SWEEP_EVERY_MS = 2_000;
const DRAIN_TIMEOUT_MS = 10_000;

export type ApiEdge = Service<{ api: number; ops: number }>;

type EdgePorts = CheckoutPorts & InitiatePorts & { bus: AnnouncingBus };

export interface ApiEdgeDeps extends TimeSources {
  config: Config;
  logger: Logger;
  metrics?: Registry;
  /** A fault of the whole process: it should exit. */
  onFatal: (error: Error) => void;
}

/** The merchants' API: checks each request, journals it, sends it as a command and answers with the outcome. */
export function createApiEdge(deps: ApiEdgeDeps): ApiEdge {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: ApiEdgeDeps, onStop: OnStop, isStarted: IsStarted): Promise<ApiEdge['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics(SERVICE, { processFigures: true });

  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}edge` });
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
  const journal = createJournal(mongo, clock);
  await journal.ensureIndexes();
  const checkouts = createCheckouts(mongo, clock);
  await checkouts.ensureIndexes();
  const vault = await openVault({ ...storage, ...config });
  onStop(() => vault.close());
  const accounts = await openAccounts({ ...storage, VAULT_KEYS: config.VAULT_KEYS });
  onStop(() => accounts.close());
  const serviceToken = config.SERVICE_TOKEN;
  const cardOwner = createOwnerQueries('card-processing', { url: config.CARD_QUERY_URL, serviceToken });
  onStop(() => cardOwner.close());
  const payoutOwner = createOwnerQueries('payout', { url: config.PAYOUT_QUERY_URL, serviceToken });
  onStop(() => payoutOwner.close());
  const queries = createCardQueries(cardOwner.ask);

  const kafka = createKafka({ brokers: brokerList(config.KAFKA_BROKERS), clientId: SERVICE, logger });
  const topicPrefix = config.TOPIC_PREFIX;
  const publisher = createPublisher({ kafka, source: SERVICE, topicPrefix, metrics, logger });
  const probe = createBrokerProbe({ kafka, topicPrefix, logger });
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
  const closer = createJournalCloser((entries) => journal.close(entries), logger);
  const disk = createDiskWatch({ isOutOfDiskSpace, now, logger });
  const late = createLateEntries({ journal, now, logger });
  const hmacKey = Buffer.from(config.JOURNAL_HMAC_KEY, 'base64');

  const max = config.MAX_CONCURRENT_REQUESTS;
  const requestSlots = createAccountSlots({
    max,
    metrics,
    gauge: { name: 'gateway_account_requests_concurrent', help: 'Slots that an account holds for its requests' },
  });
  const pageSlots = createAccountSlots({
    max,
    metrics,
    gauge: { name: 'gateway_account_page_requests_concurrent', help: 'Slots that an account holds for its pages' },
  });

  const ports: EdgePorts = {
    journal,
    queries,
    payoutQueries: createPayoutQueries(payoutOwner.ask),
    bankAddresses: isoBankAddresses,
    receiverToken: (merchantAccount, iban) => vault.vault.receiverToken(merchantAccount, iban),
    vault: vault.vault,
    bus: createBus({ publisher, probe, replies }),
    credentials: accounts.credentials,
    rateLimiter: accounts.rateLimiter,
    requestSlots,
    isDiskFull: (error) => disk.isFull(error),
    databaseAvailable: () => mongo.healthy() && disk.hasRoom(),
    now,
    randomBytes,
    bodyHash: (content) => createHmac('sha256', hmacKey).update(content).digest('base64'),
    replyTimeoutMs: config.REPLY_TIMEOUT_MS,
    logger,
    pending,
    closer,
    late,
    checkouts,
    accountIsOpen: async (merchantAccount) => {
      const account = await accounts.directory.find(merchantAccount);
      return account !== undefined && isOpen(account);
    },
    async takePageSlot(merchantAccount) {
      const account = await accounts.directory.find(merchantAccount);
      const slot = account === undefined ? 'full' : await pageSlots.take(account);
      return typeof slot === 'string' ? undefined : slot;
    },
    checkoutLifetimeMs: config.CHECKOUT_LIFETIME_SECONDS * 1_000,
    publicBaseUrl: config.PUBLIC_BASE_URL,
  };
  const sweepers = [
    { name: 'sweeping the journal', work: () => sweepJournal(ports) },
    { name: 'sweeping card-entry pages', work: () => sweepCheckouts(ports) },
  ].map(({ name, work }) => repeat({ name, everyMs: SWEEP_EVERY_MS, work: async () => void (await work()), logger }));

  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    metrics,
    readiness: () => ({
      started: isStarted(),
      clock: clock.ready(),
      database: disk.hasRoom() && mongo.healthy() && vault.healthy() && accounts.healthy(),
      bus: ports.bus.available(),
    }),
  });
  onStop(() => ops.close(DRAIN_TIMEOUT_MS));
  await publisher.start();
  onStop(() => publisher.stop());
  await probe.start();
  onStop(() => probe.stop());
  closer.start();
  onStop(() => closer.stop());
  late.start();
  onStop(() => late.stop());
  await replies.start();
  onStop(() => replies.stop());
  for (const sweeper of sweepers) {
    sweeper.start();
    onStop(() => sweeper.stop());
  }

  const api = await listen({
    listener: listenerOf(config, ports, metrics),
    port: config.PORT,
    host: config.HOST,
    tls: certificateOf(config),
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    connections: connectionLimitsOf(config),
    metrics,
  });
  // Requests that run get their answers first: replies and questions go on until the last one has left.
  onStop(() => api.close(DRAIN_TIMEOUT_MS));
  return { api: api.port, ops: ops.port };
}

/** Merchants and browsers come to one port; each has a bound of its own, so that neither keeps the other out. */
function listenerOf(config: Config, ports: EdgePorts, metrics: Registry): RequestListener {
  const shared = {
    trustedProxies: connectionLimitsOf(config).trustedProxies,
    bodies: createBodyReader({
      ...DEFAULT_BODY_LIMITS,
      max: config.MAX_CONNECTIONS,
      maxPerSource: config.MAX_CONNECTIONS_PER_SOURCE,
    }),
    bodyTimeoutMs: config.REQUEST_TIMEOUT_MS,
    now: ports.now,
    logger: ports.logger,
    metrics,
  };
  const merchants = createMerchantApi({
    ...shared,
    endpoints: [
      {
        path: '/api/pf/host-to-host',
        contentTypes: CARD_CONTENT_TYPES,
        handle: (incoming) => handleCardRequest(ports, incoming),
      },
      {
        path: '/api/pf/checkout',
        contentTypes: CARD_CONTENT_TYPES,
        handle: (incoming) => handleCheckoutRequest(ports, incoming),
      },
      ...payoutEndpoints(ports),
    ],
  });
  const pages = createCheckoutPages({
    ...shared,
    maxConcurrent: config.MAX_CONCURRENT_REQUESTS,
    show: (id, returnedReference) => showCheckout(ports, id, returnedReference),
    submit: (id, fields) => submitCard(ports, id, fields),
    publicBaseUrl: config.PUBLIC_BASE_URL,
    threedsUrl: config.THREEDS_PUBLIC_URL,
  });
  return (request, response) => (isForPages(request.url) ? pages : merchants)(request, response);
}

function payoutEndpoints(ports: EdgePorts): MerchantEndpoint[] {
  const endpoint = (path: string, handle: MerchantEndpoint['handle']): MerchantEndpoint => ({
    path: `/api/mp/${path}`,
    contentTypes: PAYOUT_CONTENT_TYPES,
    handle,
  });
  return [
    endpoint('payout', createPayoutRequestHandler(ports)),
    endpoint('transaction', (incoming) => handlePayoutCheck(ports, incoming)),
    endpoint('transactions', (incoming) => handlePayoutQuery(ports, incoming, 'with-fee')),
    endpoint('transactions/ra', (incoming) => handlePayoutQuery(ports, incoming, 'without-fee')),
  ];
}

function certificateOf({ TLS_CERT_FILE, TLS_KEY_FILE }: Config): ListenOptions['tls'] {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  return { cert: readFileSync(TLS_CERT_FILE), key: readFileSync(TLS_KEY_FILE) };
}
