import { randomBytes, randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import type { InitiatePayoutData, PayoutOutcome, PayoutRecord } from '@gateway/contracts';
import {
  InitiatePayout,
  newPaymentId,
  newReference,
  parseAmountE4,
  paymentIdOf,
  payoutEvents,
} from '@gateway/contracts';
import type { Envelope } from '@gateway/messaging';
import { createKafka, createPublisher, createWorker, on } from '@gateway/messaging';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createMetrics, loadConfig, Secret } from '@gateway/service-kit';
import { failTest, openSpace, silentLogger, until } from '@gateway/testing';
import { createPayouts } from '../src/adapters/mongo/payouts';
import type { Payout, PayoutDeps } from '../src/app';
import { createPayout } from '../src/app';
import type { ScreenedPayout, Screening, ScreeningDecision } from '../src/application/screening-ports';
import { settings } from '../src/config';
import { endedWithoutSuccess } from '../src/domain/payout';
import { startBank } from './bank';

export const MERCHANT = 'payout_merchant';
export const OTHER_MERCHANT = 'other_merchant';
const VAULT_KEYS = `k1:${randomBytes(32).toString('base64')}`;

export interface PayoutEventSeen {
  id: string;
  type: string;
  key: string;
  subject: string;
  version: number | undefined;
  data: PayoutRecord & Record<string, unknown>;
}

/** A logger that keeps its lines. */
function recordingLogger(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>): void => {
    const error = fields?.['error'];
    lines.push(`${message} ${JSON.stringify(fields)} ${error instanceof Error ? (error.stack ?? '') : ''}`);
  };
  return { debug: write, info: write, warn: write, error: write, child: () => recordingLogger(lines) };
}

/** Rules that a test sets; what was granted is reserved until it is released. */
export function testScreening() {
  const reserved = new Set<string>();
  const screened: ScreenedPayout[] = [];
  let rule: (payout: ScreenedPayout) => ScreeningDecision = () => ({ passed: true });
  const screening: Screening & { failReleases: number } = {
    failReleases: 0,
    screen(payout) {
      screened.push(payout);
      const decision = rule(payout);
      if (decision.passed) reserved.add(payout.reference);
      return Promise.resolve(decision);
    },
    release(reference) {
      if (screening.failReleases > 0) {
        screening.failReleases -= 1;
        return Promise.reject(new Error('the database is away'));
      }
      reserved.delete(reference);
      return Promise.resolve();
    },
  };
  return { screening, reserved, screened, rule: (next: typeof rule) => void (rule = next) };
}

/** What a test needs beside the service: topics, databases, accounts, a bank, and a clock that goes ahead on request. */
export async function openWorld(name: string) {
  const space = await openSpace(name);
  const bank = await startBank();
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const lines: string[] = [];
  const kafka = createKafka({ brokers: space.brokers.split(','), clientId: 'test', logger: silentLogger });
  const { topicPrefix } = space;
  const metrics = createMetrics('test', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'api-edge', topicPrefix, metrics, logger: silentLogger });
  await publisher.start();
  const events: PayoutEventSeen[] = [];
  const seen = new Set<string>();
  const observer = createWorker({
    kafka,
    groupId: 'observer',
    topicPrefix,
    handlers: Object.values(payoutEvents).map((declaration) =>
      on(declaration, async ({ id, type, key, subject, aggregateVersion, data }: Envelope) => {
        // An event may be published twice, and is the same one then.
        if (seen.has(id)) return;
        seen.add(id);
        events.push({ id, type, key, subject, version: aggregateVersion, data: data as PayoutEventSeen['data'] });
      }),
    ),
    publisher,
    onFatal: failTest,
    metrics,
    logger: silentLogger,
  });
  await observer.start();
  const accounts = await openAccounts({ uri: space.mongoUri, databasePrefix: space.databasePrefix, VAULT_KEYS });
  for (const merchantAccount of [MERCHANT, OTHER_MERCHANT]) {
    await accounts.administration.create({ merchantAccount, password: new Secret('payout_password') });
  }
  const mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}payouts` });
  const payouts = createPayouts(mongo, clockAt(now));
  await payouts.ensureIndexes();
  const started: Payout[] = [];

  async function start(env: Record<string, string> = {}, deps: Partial<PayoutDeps> = {}): Promise<Payout> {
    const own = {
      KAFKA_BROKERS: space.brokers,
      MONGODB_URI: space.mongoUri,
      TOPIC_PREFIX: topicPrefix,
      DATABASE_PREFIX: space.databasePrefix,
      VAULT_KEYS,
      PAYOUT_QUERY_PORT: '0',
      PAYOUT_BANK: 'simulator',
      SIMULATOR_URL: bank.url,
      SIMULATOR_TIMEOUT_MS: '1500',
      ...env,
    };
    const service = createPayout({
      config: loadConfig(settings, own),
      env: own,
      logger: recordingLogger(lines),
      now,
      metrics: createMetrics('payout', { processFigures: false }),
      onFatal: failTest,
      ...deps,
    });
    await service.start();
    started.push(service);
    return service;
  }

  return {
    space,
    bank,
    accounts: accounts.administration,
    mongo,
    payouts,
    publisher,
    events,
    lines,
    now,
    start,
    pass: (ms: number) => void (aheadMs += ms),
    eventsOf: (reference: string) => events.filter(({ data }) => data.reference === reference),
    typesOf: (reference: string) => events.filter(({ data }) => data.reference === reference).map(({ type }) => type),

    /** Sends a command; its reference. */
    async send(data: InitiatePayoutData, key = data.payoutId): Promise<string> {
      await publisher.publish({ declaration: InitiatePayout, data, key });
      return data.reference;
    },
    /** Waits for a state. An end that is another one is the last word at once. */
    isIn: (reference: string, kind: string) =>
      until(`${reference} ${kind}`, async () => {
        const state = (await payouts.load(reference))?.state;
        if (state?.kind === kind) return true;
        if (state !== undefined && endedWithoutSuccess(state))
          throw new Error(`${reference}: ${JSON.stringify(state)}`);
        return false;
      }),
    ask: async (service: Payout, path: string, method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${service.ports.query}${path}`, { method });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    outcome: async (service: Payout, reference: string, account = MERCHANT): Promise<PayoutOutcome> => {
      const response = await fetch(`http://127.0.0.1:${service.ports.query}/payouts/${reference}?account=${account}`);
      return (await response.json()) as PayoutOutcome;
    },

    async stopServices() {
      for (const service of started.splice(0)) await service.stop();
    },

    async close() {
      for (const service of started) await service.stop();
      await observer.stop();
      await publisher.stop();
      await mongo.mongoose.dropDatabase();
      await mongo.close();
      await accounts.close();
      await bank.close();
      await space.remove();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export const IBAN = 'LT121000011101001000';
export const RECEIVER_NAME = 'Ona Paslaptis';

export function payout(amount: string, fields: Partial<InitiatePayoutData> = {}): InitiatePayoutData {
  const reference = newReference(newPaymentId(randomBytes), randomBytes);
  return {
    payoutId: paymentIdOf(reference),
    reference,
    merchantAccount: MERCHANT,
    transactionUniqueId: `payout-${randomUUID().slice(0, 8)}`,
    acceptedAt: Date.now(),
    amountE4: parseAmountE4(amount) ?? 0,
    feeE4: 5_000,
    currency: 'XTS',
    token: randomUUID(),
    instant: false,
    receiver: { iban: IBAN, name: RECEIVER_NAME, address: { street: 'Tylioji', city: 'Kaunas' } },
    description: 'Invoice 7',
    callbackUrl: 'https://shop.test/payouts',
    ...fields,
  };
}
