import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccounts } from '@gateway/accounts';
import type { DataOf } from '@gateway/contracts';
import {
  AuthorizationVoided,
  AuthorizeCard,
  CardAuthorized,
  newPaymentId,
  newReference,
  paymentIdOf,
  Secret,
  TEST_CARDS,
  VoidAuthorization,
} from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { createKafka, createPublisher, createTopics, createWorker, on } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import { createLogger, createMetrics } from '@gateway/service-kit';
import { newVaultKeys, openVaultWriter } from '@gateway/vault';
import type { OnEnd } from './run';
import { startService } from './service-processes';

const MERCHANT = 'bench_expiry';
/** Nothing else falls due during the run. */
const HOLD_SECONDS = 86_400;
const COMMAND_LIFETIME_MS = 600_000;
/** Warm-up operations of each kind. */
const WARM_UP_FRACTION = 0.2;
const PUBLISHED_AT_ONCE = 1_000;
const LOOK_EVERY_MS = 100;
const WAIT_TIMEOUT_MS = 300_000;
const MIB = 1_024 * 1_024;

interface Options {
  kafkaBrokers: string;
  mongodbUri: string;
  prefix: string;
  due: number;
  onEnd: OnEnd;
}

interface Bench {
  publisher: Publisher;
  /** References of authorizations and voids, from their events. */
  seen: { authorized: Set<string>; voided: Set<string> };
  token: string;
  /** Ends the holds of all authorizations now. */
  endHolds(): Promise<void>;
  openDeadlines(): Promise<number>;
}

/**
 * card-processing, simulator and auth-expiry, each in a process of its own; this process sends commands and reads
 * events.
 */
export async function compareVoids(options: Options): Promise<void> {
  const { due, onEnd } = options;
  const folder = mkdtempSync(join(tmpdir(), 'bench-expiry-'));
  onEnd(() => rmSync(folder, { recursive: true }));
  const { bench, env } = await openBench(options);
  const simulatorPort = String(await freePort());
  const settings = { ...env, SIMULATOR_PORT: simulatorPort, SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}` };
  const services = new Map<string, ChildProcess>();
  for (const name of ['simulator', 'card-processing', 'auth-expiry']) {
    services.set(name, await startService(name, { logFile: join(folder, `${name}.log`), settings }, onEnd));
  }

  console.log(`\n${due} authorizations voided, per second`);
  await merchantsVoid(bench, due * WARM_UP_FRACTION);
  await holdsEnd(bench, due * WARM_UP_FRACTION);
  const merchants = await merchantsVoid(bench, due);
  console.log(`by merchants' VOID       ${merchants.toFixed(0).padStart(6)}`);
  const expiry = await holdsEnd(bench, due);
  console.log(`by the end of their hold ${expiry.toFixed(0).padStart(6)}   ratio ${(expiry / merchants).toFixed(2)}`);
  console.log('\npeak resident memory');
  for (const [name, { pid }] of services) console.log(`${name.padEnd(16)} ${peakMemory(pid).padStart(6)} MiB`);
}

async function openBench(options: Options): Promise<{ bench: Bench; env: Record<string, string> }> {
  const { kafkaBrokers, mongodbUri: uri, prefix, onEnd } = options;
  const keys = newVaultKeys('bench');
  const logger = createLogger({ service: 'bench', level: 'error' });
  const metrics = createMetrics('bench', { processFigures: false });
  const kafka = createKafka({ brokers: kafkaBrokers.split(','), clientId: 'bench', logger });
  await createTopics({ kafka, prefix });
  const token = await openMerchant({ uri, databasePrefix: prefix, logger, ...keys });
  const publisher = createPublisher({ kafka, source: 'api-edge', topicPrefix: prefix, metrics, logger });
  await publisher.start();
  onEnd(() => publisher.stop());

  const seen: Bench['seen'] = { authorized: new Set(), voided: new Set() };
  const observer = createWorker({
    kafka,
    groupId: 'observer',
    topicPrefix: prefix,
    handlers: [
      on(CardAuthorized, async ({ data }) => void seen.authorized.add(data.reference)),
      on(AuthorizationVoided, async ({ data }) => {
        if (data.baseReference !== undefined) seen.voided.add(data.baseReference);
      }),
    ],
    otherTypes: 'skip',
    publisher,
    onFatal: (error) =>
      setImmediate(() => {
        throw error;
      }),
    metrics,
    logger,
  });
  await observer.start();
  onEnd(() => observer.stop());

  const [cards, expiry] = await Promise.all(
    ['cards', 'expiry'].map((database) => connectMongo({ uri, database: prefix + database })),
  );
  if (cards === undefined || expiry === undefined) throw new Error('not connected');
  onEnd(() => Promise.all([cards.close(), expiry.close()]));
  const [payments, deadlines] = [cards.collection('payments'), expiry.collection('deadlines')];
  const bench: Bench = {
    publisher,
    seen,
    token,
    openDeadlines: () => deadlines.countDocuments({ dueAt: { $exists: true } }),
    async endHolds() {
      const now = Date.now();
      await payments.updateMany({ 'state.kind': 'authorized' }, { $set: { 'state.hold.expiresAt': now } });
      await deadlines.updateMany({ dueAt: { $exists: true } }, { $set: { expiresAt: now, dueAt: now } });
    },
  };
  const env = {
    KAFKA_BROKERS: kafkaBrokers,
    MONGODB_URI: uri,
    TOPIC_PREFIX: prefix,
    DATABASE_PREFIX: prefix,
    ...keys,
    DS_MESSAGE_KEY: secret(),
    CARD_QUERY_PORT: '0',
    OPS_PORT: '0',
    AUTH_HOLD_SECONDS: String(HOLD_SECONDS),
    EXPIRY_RATE_PER_SECOND: '10000',
  };
  return { bench, env };
}

const secret = (): string => randomBytes(32).toString('base64');

/** An account and a card of its customer; returns the card's token. */
async function openMerchant(
  storage: Omit<Parameters<typeof openVaultWriter>[0], 'publishCvvKey'> & Parameters<typeof openAccounts>[0],
): Promise<string> {
  const accounts = await openAccounts(storage);
  await accounts.administration.create({ merchantAccount: MERCHANT, password: new Secret('bench_password') });
  await accounts.close();
  const vault = await openVaultWriter({ ...storage, publishCvvKey: async () => undefined });
  const card = { pan: TEST_CARDS.notEnrolled.visa, expMonth: '12', expYear: '2030', holder: 'Ann Lee' };
  const limits = { perBin: 1, inAll: 1 };
  const put = await vault.vault.putCard({ merchantAccount: MERCHANT, realm: 'test' }, new Secret(card), limits);
  await vault.close();
  if ('overLimit' in put) throw new Error('the only card is over a limit');
  return put.token;
}

/** VOIDs per second, from the first command to the last event. */
async function merchantsVoid(bench: Bench, count: number): Promise<number> {
  const references = await authorize(bench, count);
  const begun = performance.now();
  await publishAll(references, (reference) => {
    const data: DataOf<typeof VoidAuthorization> = { ...accepted(reference), baseReference: reference };
    return bench.publisher.publish({ declaration: VoidAuthorization, data, key: data.paymentId });
  });
  await allIn(references, bench.seen.voided);
  return (count * 1_000) / (performance.now() - begun);
}

/** The same without merchants' commands: the clock is moved to the end of the holds. */
async function holdsEnd(bench: Bench, count: number): Promise<number> {
  const references = await authorize(bench, count);
  await until('deadlines', async () => (await bench.openDeadlines()) >= count);
  await bench.endHolds();
  const begun = performance.now();
  await allIn(references, bench.seen.voided);
  return (count * 1_000) / (performance.now() - begun);
}

async function authorize({ publisher, token, seen }: Bench, count: number): Promise<string[]> {
  const references = Array.from({ length: count }, () => newReference(newPaymentId(randomBytes), randomBytes));
  const customer = { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email: 'ann@example.com', ip: '192.0.2.1' };
  const money = { amountE4: 100_000, currency: 'XTS' };
  await publishAll(references, (reference) => {
    const operation = { ...accepted(reference), reference };
    const data: DataOf<typeof AuthorizeCard> = { ...operation, ...money, token, withCvv: false, customer };
    return publisher.publish({ declaration: AuthorizeCard, data, key: data.paymentId });
  });
  await allIn(references, seen.authorized);
  return references;
}

/** An operation of the payment of this AUTH. */
function accepted(reference: string) {
  const paymentId = paymentIdOf(reference);
  const own = newReference(paymentId, randomBytes);
  const now = Date.now();
  const deadline = now + COMMAND_LIFETIME_MS;
  return {
    paymentId,
    reference: own,
    merchantAccount: MERCHANT,
    transactionUniqueId: own,
    acceptedAt: now,
    deadline,
    notes: {},
  };
}

async function publishAll(references: readonly string[], publish: (reference: string) => Promise<void>): Promise<void> {
  for (let first = 0; first < references.length; first += PUBLISHED_AT_ONCE) {
    await Promise.all(references.slice(first, first + PUBLISHED_AT_ONCE).map(publish));
  }
}

function allIn(references: readonly string[], seen: ReadonlySet<string>): Promise<void> {
  return until('events', async () => references.every((reference) => seen.has(reference)));
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`timed out after ${WAIT_TIMEOUT_MS} ms waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** In MiB, on Linux only. */
function peakMemory(pid: number | undefined): string {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return ((Number(kib) * 1_024) / MIB).toFixed(0);
  } catch {
    return '?';
  }
}
