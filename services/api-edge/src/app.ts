import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { isOpen, openAccounts } from '@gateway/accounts';
import { OperationReplied } from '@gateway/contracts';
import { createBrokerProbe, createReplyListener } from '@gateway/messaging';
import { isOutOfDiskSpace } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { ListenOptions, Registry, Service } from '@gateway/service-kit';
import { connectionLimitsOf, createBodyReader, createOwnerQueries, DEFAULT_BODY_LIMITS } from '@gateway/service-kit';
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
/** Requests in progress wait for their replies. */
const DRAIN_TIMEOUT_MS = 10_000;

export type ApiEdge = Service<{ api: number; ops: number }>;

type EdgePorts = CheckoutPorts & InitiatePorts & { bus: AnnouncingBus };

export type ApiEdgeDeps = ServiceDeps<Config>;

/** The merchants' API: checks each request, journals it, sends it as a command and answers with the outcome. */
export function createApiEdge(deps: ApiEdgeDeps): ApiEdge {
  return createFramedService({ name: SERVICE, database: 'edge', deps, open });
}

async function open(frame: Frame<Config>, { onFatal }: ApiEdgeDeps): Promise<Parts<'api'>> {
  const { config, mongo, clock, kafka, topicPrefix, publisher, metrics, logger } = frame;
  const { now } = clock;
  const journal = createJournal(mongo, clock);
  await journal.ensureIndexes();
  const checkouts = createCheckouts(mongo, clock);
  await checkouts.ensureIndexes();
  const { vault } = frame.database(await openVault({ ...frame.storage, ...config }));
  const accounts = frame.database(await openAccounts({ ...frame.storage, ...config }));
  const owners = openOwners(config);
  frame.onStop(() => Object.values(owners).forEach((owner) => owner.close()));
  const queries = createCardQueries(owners.cards.ask);

  const probe = createBrokerProbe({ kafka, topicPrefix, logger });
  const replies = createReplyListener({
    kafka,
    groupId: SERVICE,
    topicPrefix,
    declaration: OperationReplied,
    onReply: ({ data }) => pending.deliver(data),
    onPartitionsChanged: () => pending.askForAll(),
    onFatal,
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
  const pageSlots = createAccountSlots({
    max,
    metrics,
    gauge: { name: 'gateway_account_page_requests_concurrent', help: 'Slots that an account holds for its pages' },
  });

  const ports: EdgePorts = {
    journal,
    queries,
    payoutQueries: createPayoutQueries(owners.payouts.ask),
    bankAddresses: isoBankAddresses,
    receiverToken: (merchantAccount, iban) => vault.receiverToken(merchantAccount, iban),
    vault,
    bus: createBus({ publisher, probe, replies }),
    credentials: accounts.credentials,
    rateLimiter: accounts.rateLimiter,
    requestSlots: createAccountSlots({
      max,
      metrics,
      gauge: { name: 'gateway_account_requests_concurrent', help: 'Slots that an account holds for its requests' },
    }),
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
  return {
    beside: [probe, closer, late, replies],
    loops: [
      frame.repeat({ name: 'sweeping the journal', everyMs: SWEEP_EVERY_MS, work: () => sweepJournal(ports) }),
      frame.repeat({ name: 'sweeping card-entry pages', everyMs: SWEEP_EVERY_MS, work: () => sweepCheckouts(ports) }),
    ],
    public: {
      name: 'api',
      listener: listenerOf(config, ports, metrics),
      port: config.PORT,
      host: config.HOST,
      tls: certificateOf(config),
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      connections: connectionLimitsOf(config),
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
    },
    readiness: () => ({ database: disk.hasRoom() && frame.databasesHealthy(), bus: ports.bus.available() }),
  };
}

/** The services that own payments and payouts. */
function openOwners({ CARD_QUERY_URL, PAYOUT_QUERY_URL, SERVICE_TOKEN: serviceToken }: Config) {
  return {
    cards: createOwnerQueries('card-processing', { url: CARD_QUERY_URL, serviceToken }),
    payouts: createOwnerQueries('payout', { url: PAYOUT_QUERY_URL, serviceToken }),
  };
}

/** Merchants and browsers share a port. Each has a limit of its own, so that neither can lock the other out. */
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
