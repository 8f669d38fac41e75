import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createClockFollower, openLogins } from '@gateway/accounts';
import { openAudit } from '@gateway/audit';
import type { OperationOutcome } from '@gateway/contracts';
import { cardCommands, InitiatePayout, OperationReplied, services } from '@gateway/contracts';
import { createBrokerProbe, createReplyListener } from '@gateway/messaging';
import { isOutOfDiskSpace, registerOverdue, SOCKET_TIMEOUT_MS } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import {
  connectionLimitsOf,
  createOwnerQueries,
  keyListOf,
  openCertificate,
  openRefusals,
  sandboxRetentionOf,
} from '@gateway/service-kit';
import { openVaultWriter } from '@gateway/vault';
import type { AccountSlotsOptions } from './adapters/account-slots';
import { createAccountSlots, createPageAdmission } from './adapters/account-slots';
import { isoBankAddresses } from './adapters/bank-addresses/iso';
import { createPollPlaces } from './adapters/callback-places';
import { createCallbackQueries } from './adapters/http/callback-queries';
import { createCardQueries } from './adapters/http/card-queries';
import type { EdgePorts } from './adapters/http/edge-listener';
import { createEdgeListener } from './adapters/http/edge-listener';
import { referencePage } from './adapters/http/reference-page';
import { createSandboxLedger } from './adapters/http/ledger-queries';
import { createPayoutQueries } from './adapters/http/payout-queries';
import { createBus } from './adapters/kafka/bus';
import { createCommandHistory } from './adapters/kafka/command-history';
import { publishCvvKeys } from './adapters/kafka/cvv-keys';
import { createListPlaces } from './adapters/list-places';
import { createCheckouts } from './adapters/mongo/checkouts';
import { createJournal } from './adapters/mongo/journal';
import { createTestRecordCounts } from './adapters/mongo/test-record-counts';
import { measuredSandbox } from './adapters/sandbox-metrics';
import { measureSources } from './adapters/source-metrics';
import { createDiskWatch } from './application/disk-watch';
import { waitingCheckouts } from './application/follow-clock';
import { createJournalCloser } from './application/journal-closer';
import { createLateEntries } from './application/late-entries';
import { createPaymentTurns } from './application/payment-turns';
import { recoverJournal } from './application/recover-journal';
import { createPendingOutcomes } from './application/pending-outcomes';
import type { PendingOutcomes } from './application/pending-outcomes';
import type { SandboxQuota } from './application/sandbox-quota';
import { createSandboxQuota } from './application/sandbox-quota';
import { createCheckoutSweeper } from './application/sweep-checkouts';
import { sweepJournal } from './application/sweep-journal';
import type { Config } from './config';
import { testRecordsMax } from './config';
import { ensureIndexes } from './indexes';

const SWEEP_EVERY_MS = 2_000;
/** An account may exceed its quota by what it sends meanwhile. */
const COUNT_EVERY_MS = 2_000;
/** Requests in progress wait for their replies. */
const DRAIN_TIMEOUT_MS = 10_000;

export type ApiEdge = Service<{ api: number; ops: number }>;

export type ApiEdgeDeps = ServiceDeps<Config>;

/** The merchants' API: checks each request, journals it, sends it as a command and answers with the outcome. */
export function createApiEdge(deps: ApiEdgeDeps): ApiEdge {
  return createFramedService({ service: services.apiEdge, deps, open });
}

async function open(frame: Frame<Config>, { onFatal }: ApiEdgeDeps): Promise<Parts<'api'>> {
  const { config, mongo, clock, kafka, topicPrefix, publisher, tracer, metrics, logger } = frame;
  const { now } = clock;
  const journal = createJournal(mongo, clock);
  const checkouts = createCheckouts(mongo, clock);
  await ensureIndexes(frame);
  const { vault, cvvKeys } = frame.database(
    await openVaultWriter({ ...frame.storage, ...config, publishCvvKey: publishCvvKeys(publisher) }),
  );
  const accounts = frame.database(await openLogins({ ...frame.storage, ...config }));
  registerOverdue({ metrics, now, logger }, { journal: journal.countOverdue });
  measureSources(metrics, accounts.credentials);
  await accounts.requireSafe(config);
  await accounts.clocks.ensureIndexes();
  const audit = frame.database(await openAudit(frame.storage));
  const owners = openOwners(config);
  frame.onStop(() => Object.values(owners).forEach((owner) => owner?.close()));
  const queries = createCardQueries(owners.cards.ask);

  const probe = createBrokerProbe({ kafka, topicPrefix, logger });
  const { pending, replies } = createReplies(frame, queries.outcome, onFatal);
  const closer = createJournalCloser((entries) => journal.close(entries), logger);
  const disk = createDiskWatch({ isOutOfDiskSpace, now, logger });
  const late = createLateEntries({ journal, now, logger });
  const sandbox = openSandbox(frame);
  let stopping = false;
  const [firstKey, ...otherKeys] = keyListOf(config.JOURNAL_HMAC_KEY);
  const hashUnder = (key: Buffer) => {
    const hmacKey = createSecretKey(key);
    return (content: string): string => createHmac('sha256', hmacKey).update(content).digest('base64');
  };
  const [hash, ...otherHashes] = [hashUnder(firstKey), ...otherKeys.map(hashUnder)] as const;
  const ports: EdgePorts = {
    journal,
    queries,
    payoutQueries: createPayoutQueries(owners.payouts.ask, owners.payoutLists.ask),
    payoutListPlaces: createListPlaces(),
    callbackQueries: createCallbackQueries(owners.callbacks.ask),
    pollPlaces: createPollPlaces(metrics),
    sandboxLedger: owners.simulator && createSandboxLedger(owners.simulator.ask),
    callbackListPlaces: createListPlaces(),
    isStopping: () => stopping,
    bankAddresses: isoBankAddresses,
    receiverTokens: (merchantAccount, iban) => vault.receiverTokens(merchantAccount, iban),
    vault,
    accounts: accounts.directory,
    bus: createBus({ publisher, probe, replies }),
    credentials: accounts.credentials,
    refuseLogin: openRefusals('login', { logger, metrics }),
    rateLimiter: accounts.rateLimiter,
    sandbox,
    requestSlots: createAccountSlots(
      slotsOf(frame, 'gateway_account_requests_concurrent', 'Slots that an account holds for its requests'),
    ),
    isDiskFull: (error) => disk.isFull(error),
    databaseAvailable: () => mongo.healthy() && disk.hasRoom() && frame.recovery.current() === undefined,
    now,
    randomBytes,
    bodyHashes: (content) => [hash(content), ...otherHashes.map((other) => other(content))],
    replyTimeoutMs: config.REPLY_TIMEOUT_MS,
    sandboxReturns: config.NODE_ENV === 'production' ? 'registered' : 'any',
    tracer,
    logger,
    pending,
    turns: createPaymentTurns(),
    closer,
    late,
    checkouts,
    ...createPageAdmission(
      accounts,
      slotsOf(frame, 'gateway_account_page_requests_concurrent', 'Slots that an account holds for its pages'),
    ),
    checkoutLifetimeMs: config.CHECKOUT_LIFETIME_SECONDS * 1_000,
    // Inserts are repeated until the deadline, and one that runs then ends with its socket.
    attemptMaxMs: config.REPLY_TIMEOUT_MS + SOCKET_TIMEOUT_MS,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    clocks: accounts.clocks,
    latestAccount: (merchantAccount) => accounts.directory.findLatest(merchantAccount),
    audit,
  };
  const history = createCommandHistory({ kafka, topicPrefix, replyTimeoutMs: config.REPLY_TIMEOUT_MS, logger });
  const recovering = {
    start: () =>
      recoverJournal({
        ...{ journal, history, logger },
        onMissing: () => frame.recovery.notice([]),
      }),
    stop: () => undefined,
  };
  // The API opens after the reference, and shares its listener.
  let api: RequestListener = (_request, response) => void response.writeHead(503).end();
  return {
    hotMessages: [...Object.values(cardCommands), InitiatePayout, OperationReplied],
    beside: [recovering, probe, cvvKeys, closer, late, replies],
    loops: [
      ...referencePage(config, (request, response) => api(request, response), logger),
      frame.repeat({ name: 'sweeping the journal', everyMs: SWEEP_EVERY_MS, work: () => sweepJournal(ports) }),
      createCheckoutSweeper(ports, SWEEP_EVERY_MS),
      frame.repeat({
        name: 'counting records in the test currency',
        everyMs: COUNT_EVERY_MS,
        work: () => sandbox.exchange(),
      }),
      createClockFollower({
        clocks: accounts.clocks,
        service: 'api-edge',
        kinds: [waitingCheckouts(checkouts, now)],
        now,
        logger,
      }),
    ],
    public: {
      name: 'api',
      listener: (pace) => (api = createEdgeListener(config, ports, { pace, metrics })),
      port: config.PORT,
      host: config.HOST,
      tls: openCertificate(config, frame),
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      connections: connectionLimitsOf(config),
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
      onClosing: () => void (stopping = true),
    },
    readiness: () => ({
      database: disk.hasRoom() && frame.databasesHealthy(),
      bus: ports.bus.available(),
      cvvKey: cvvKeys.ready(),
    }),
  };
}

function openSandbox({ config, mongo, clock, metrics, logger }: Frame<Config>): SandboxQuota {
  const counts = createTestRecordCounts(mongo, clock, sandboxRetentionOf(config).days);
  const inAll = testRecordsMax(config);
  const limits = { perDay: config.SANDBOX_DAILY_RECORDS, inAll };
  return measuredSandbox(createSandboxQuota({ counts, ...limits, now: clock.now, logger }), inAll, metrics);
}

function slotsOf({ config, metrics }: Frame<Config>, name: string, help: string): AccountSlotsOptions {
  return { max: config.MAX_CONCURRENT_REQUESTS, metrics, gauge: { name, help } };
}

/** The outcomes that requests wait for: they come as replies, or the owner is asked. */
function createReplies(
  { config, clock: { now }, kafka, topicPrefix, tracer, logger }: Frame<Config>,
  ask: (merchantAccount: string, reference: string) => Promise<OperationOutcome | undefined>,
  onFatal: ApiEdgeDeps['onFatal'],
) {
  const replies = createReplyListener({
    kafka,
    groupId: services.apiEdge.name,
    topicPrefix,
    declaration: OperationReplied,
    onReply: ({ data }) => pending.deliver(data),
    onPartitionsChanged: () => pending.askForAll(),
    onFatal,
    tracer,
    logger,
  });
  const pending: PendingOutcomes = createPendingOutcomes({
    ask,
    repliesExpected: () => replies.ownedPartition() !== undefined,
    timeoutMs: config.REPLY_TIMEOUT_MS,
    now,
    logger,
  });
  return { pending, replies };
}

/** Queries to the owners of payments, payouts and callbacks, and to the simulator. */
function openOwners(config: Config) {
  const { CARD_QUERY_URL, PAYOUT_QUERY_URL, CALLBACK_ADMIN_URL } = config;
  const { SIMULATOR_URL, SIMULATOR_CA_FILE, IDENTITY_TOKEN: identityToken, INTERNAL_TLS_CA_FILE: caFile } = config;
  const trust = { identityToken, caFile };
  return {
    cards: createOwnerQueries('card-processing', { url: CARD_QUERY_URL, ...trust }),
    payouts: createOwnerQueries('payout', { url: PAYOUT_QUERY_URL, ...trust }),
    // CHECK and the sweeper must not wait for connections that lists hold.
    payoutLists: createOwnerQueries('payout', { url: PAYOUT_QUERY_URL, ...trust }),
    callbacks: createOwnerQueries('callback-dispatcher', { url: CALLBACK_ADMIN_URL, ...trust }),
    simulator:
      SIMULATOR_URL === undefined
        ? undefined
        : createOwnerQueries('simulator', { url: SIMULATOR_URL, identityToken, caFile: SIMULATOR_CA_FILE }),
  };
}
