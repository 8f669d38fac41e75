import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import { accountKeysOf } from '@gateway/testing';
import { createMerchantApi } from '@gateway/api-edge/dist/adapters/http/merchant-api';
import { createJournal } from '@gateway/api-edge/dist/adapters/mongo/journal';
import { isoBankAddresses } from '@gateway/api-edge/dist/adapters/bank-addresses/iso';
import { cardEndpoint, payoutCheckEndpoint, payoutEndpoint } from '@gateway/api-edge/dist/application/endpoints';
import { handleCardRequest } from '@gateway/api-edge/dist/application/handle-card-request';
import { handlePayoutCheck } from '@gateway/api-edge/dist/application/handle-payout-check';
import { handlePayoutRequest } from '@gateway/api-edge/dist/application/handle-payout-request';
import type { InitiatePorts } from '@gateway/api-edge/dist/application/handle-payout-request';
import { createJournalCloser } from '@gateway/api-edge/dist/application/journal-closer';
import { createPaymentTurns } from '@gateway/api-edge/dist/application/payment-turns';
import { createPendingOutcomes } from '@gateway/api-edge/dist/application/pending-outcomes';
import { openConnectors } from '@gateway/card-processing/dist/adapters/acquirers/connectors';
import { createCounters } from '@gateway/card-processing/dist/adapters/mongo/counters';
import { createPayments } from '@gateway/card-processing/dist/adapters/mongo/payments';
import { announce } from '@gateway/card-processing/dist/application/announcements';
import type { Ports } from '@gateway/card-processing/dist/application/ports';
import { processCommand } from '@gateway/card-processing/dist/application/process-command';
import { findOutcome, listOutcomes } from '@gateway/card-processing/dist/application/query-operations';
import { evolve } from '@gateway/card-processing/dist/domain/payment';
import type { CvvKeyIssuedData } from '@gateway/contracts';
import { clockAt, connectMongo, createHandle, createOutbox } from '@gateway/mongo';
import {
  createBodyReader,
  createDetachedWork,
  createLogger,
  createMetrics,
  listen,
  noTracer,
} from '@gateway/service-kit';
import { newVaultKeys, openVaultReader, openVaultWriter } from '@gateway/vault';
import { openDirectPayouts } from './direct-payouts';

/**
 * The same use cases wired directly, to compare with: the edge's, card-processing's and payout's own code in one process, with
 * the same validation, logs, MongoDB writes and calls to the simulator, and function calls instead of Kafka.
 * Reports its port, and its memory on request, to the parent process.
 */
const REPLY_TIMEOUT_MS = 30_000;
const CALLS_AT_ONCE = 512;

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

async function main(): Promise<void> {
  const prefix = required('DATABASE_PREFIX');
  const uri = required('MONGODB_URI');
  const logger = createLogger({ service: 'direct', level: 'info' });
  const metrics = createMetrics('direct', { processFigures: true });
  const now = Date.now;
  const clock = clockAt(now);
  const storage = { uri, databasePrefix: prefix, now, logger, ...newVaultKeys(), ...accountKeysOf(process.env) };
  const { vault: reader, cvvKeys } = await openVaultReader(storage);
  const publishCvvKey = async (key: CvvKeyIssuedData): Promise<void> => cvvKeys.accept(key);
  const { vault: writer } = await openVaultWriter({ ...storage, publishCvvKey });
  const accounts = await openAccounts(storage);
  const cards = await connectMongo({ uri, database: `${prefix}cards` });
  const payments = createPayments(cards, clock);
  await payments.ensureIndexes();
  const payouts = await openDirectPayouts({
    mongo: await connectMongo({ uri, database: `${prefix}payouts` }),
    accounts: accounts.directory,
    logger,
    metrics,
  });
  const edge = await connectMongo({ uri, database: `${prefix}edge` });
  const journal = createJournal(edge, clock);
  await journal.ensureIndexes();

  const outbox = createOutbox({
    collection: payments.outboxes,
    publish: async () => {},
    clock,
    metrics: createMetrics('outbox', { processFigures: false }),
    logger,
  });
  const connectors = openConnectors(['simulator'], {
    env: process.env,
    simulatedMoney: 'no',
    callsAtOnce: CALLS_AT_ONCE,
    metrics,
  });
  const processing: Ports = {
    payments,
    handle: createHandle({ store: payments, evolve, announce, publish: outbox.publish, now, newId: randomUUID }),
    cards: reader,
    accounts: accounts.directory,
    counters: createCounters(cards, { now, logger }),
    connector: (name) => connectors.get(name),
    calls: createDetachedWork({ name: 'call', max: CALLS_AT_ONCE, logger }),
    reply: async (outcome) => pending.deliver(outcome),
    now,
    holdSeconds: 604_800,
    recovery: { current: () => undefined, mayHaveBeenHandled: () => false },
    holds: [],
    authenticationPatienceMs: 1_200_000,
    tracer: noTracer,
    logger,
  };
  const queries = {
    outcome: (account: string, reference: string) => findOutcome(processing, account, reference),
    payment: (account: string, reference: string) => listOutcomes(processing, account, reference),
  };
  const pending = createPendingOutcomes({
    ask: queries.outcome,
    repliesExpected: () => true,
    timeoutMs: REPLY_TIMEOUT_MS,
    now,
    logger,
  });
  const closer = createJournalCloser((entries) => journal.close(entries), logger);
  const hmacKey = randomBytes(32);
  const ports: InitiatePorts & Parameters<typeof handleCardRequest>[0] = {
    journal,
    queries,
    payoutQueries: payouts.queries,
    bankAddresses: isoBankAddresses,
    receiverTokens: (account, iban) => writer.receiverTokens(account, iban),
    vault: writer,
    accounts: accounts.directory,
    late: { add: () => undefined },
    sandbox: { refusal: () => undefined, count: () => undefined },
    bus: {
      available: () => true,
      publish: (command) =>
        command.type === 'InitiatePayout'
          ? payouts.publish(command)
          : processCommand(processing, { command, id: randomUUID(), correlationId: randomUUID(), replyPartition: 0 }),
    },
    credentials: accounts.credentials,
    rateLimiter: accounts.rateLimiter,
    refuseLogin: () => undefined,
    // The bench uses one account.
    requestSlots: { take: async () => ({ release: () => undefined }) },
    isDiskFull: () => false,
    databaseAvailable: () => true,
    now,
    randomBytes,
    bodyHashes: (content) => [createHmac('sha256', hmacKey).update(content).digest('base64')],
    replyTimeoutMs: REPLY_TIMEOUT_MS,
    sandboxReturns: 'any',
    logger,
    pending,
    turns: createPaymentTurns(),
    closer,
    // It opens no pages.
    checkouts: { find: async () => undefined },
  };
  outbox.start();
  closer.start();
  const payoutRequests = payoutEndpoint(isoBankAddresses);
  const api = createMerchantApi({
    publicBaseUrl: 'http://127.0.0.1:8080',
    endpoints: [
      { ...cardEndpoint, handle: (incoming) => handleCardRequest(ports, incoming) },
      { ...payoutRequests, handle: (incoming) => handlePayoutRequest(ports, incoming, payoutRequests) },
      { ...payoutCheckEndpoint, handle: (incoming) => handlePayoutCheck(ports, incoming) },
    ],
    trustedProxies: [],
    bodies: createBodyReader(),
    pace: { take: async () => true },
    bodyTimeoutMs: 10_000,
    now,
    tracer: noTracer,
    logger,
    metrics,
  });
  const { port } = await listen({ listener: api, port: 0, host: '127.0.0.1' });
  process.send?.({ port });
  process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss() }));
  process.on('disconnect', () => process.exit(0));
}

void main();
