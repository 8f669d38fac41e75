import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccounts } from '@gateway/accounts';
import { accountKeysOf } from '@gateway/testing';
import { newVaultKeys } from '@gateway/vault';
import type { OperationRecord } from '@gateway/contracts';
import { CardCharged, newPaymentId, newReference, paymentIdOf, Secret } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { createKafka, createPublisher, createTopics } from '@gateway/messaging';
import { createLogger, createMetrics } from '@gateway/service-kit';
import { newCertificate } from './certificate';
import type { OnEnd } from './run';
import { startServers } from './servers';
import { startService } from './service-processes';

const RECEIVERS = 64;
const WARM_UP_MS = 4_000;
const MEASURE_MS = 8_000;
/** Outcomes that are published and not acknowledged yet: enough to keep every receiver busy. */
const OUTSTANDING = 2_048;
/** Long enough to publish outcomes in batches, because the cost of publishing is not the dispatcher's. */
const LOOK_EVERY_MS = 100;
/** The hanging merchant's own outcomes keep arriving. */
const HANGING_EVERY_MS = 1_000;
const HANG_TIMEOUT_MS = 30_000;
const MERCHANT = 'bench_callbacks';
/** The merchant whose receivers hang. */
const NEIGHBOUR = 'bench_neighbour';
/** A merchant's concurrent calls to addresses that may hang: CALLBACK_UNPROVEN_PER_MERCHANT. */
const HUNG_AT_ONCE = 16;
/** As long as a callback. */
const BARE_BODY = new URLSearchParams({
  token: randomUUID(),
  reference: '0123456789ABCDEF0001',
  transaction_unique_id: 'order-0000000001',
  status: 'success',
  code: '0',
  message: 'Transaction processed successfully',
  checkSum: '0'.repeat(64),
}).toString();

interface Bench {
  receivers: ChildProcess;
  loop: ChildProcess;
  publisher: Publisher;
  healthy: number[];
  hanging: number[];
  cert: string;
}

/**
 * `npm run bench -- callbacks`: callbacks per second of one dispatcher process to 64 receivers, against bare axios posts
 * to the same receivers; then both again while another merchant's 64 receivers hang. Uses the servers that KAFKA_BROKERS and
 * MONGODB_URI name, else starts some.
 */
export async function runCallbacks(onEnd: OnEnd): Promise<void> {
  await compare(await open(onEnd));
}

async function open(onEnd: OnEnd): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-callbacks-'));
  onEnd(() => rmSync(folder, { recursive: true }));
  const { key, cert, certFile } = newCertificate(folder);
  const { kafkaBrokers, mongodbUri } = await startServers(onEnd);
  const prefix = `bench-${randomBytes(3).toString('hex')}-`;
  const keys = accountKeysOf(newVaultKeys('bench'));
  const logger = createLogger({ service: 'bench', level: 'error' });
  const kafka = createKafka({ brokers: kafkaBrokers.split(','), clientId: 'bench', logger });
  await createTopics({ kafka, prefix });
  const accounts = await openAccounts({ uri: mongodbUri, databasePrefix: prefix, ...keys });
  for (const merchantAccount of [MERCHANT, NEIGHBOUR]) {
    await accounts.administration.create({ merchantAccount, password: new Secret('bench_password') });
    // Callbacks of sandbox accounts are also written to their feed.
    await accounts.administration.changeState(merchantAccount, 'activate');
  }
  await accounts.close();

  const receivers = forked('callbacks-receivers.js', onEnd);
  receivers.send({ key, cert, healthy: RECEIVERS, hanging: RECEIVERS });
  const ports = (await answer(receivers)) as { healthy: number[]; hanging: number[] };
  const metrics = createMetrics('bench', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'card-processing', topicPrefix: prefix, metrics, logger });
  await publisher.start();
  onEnd(() => publisher.stop());
  const settings = {
    KAFKA_BROKERS: kafkaBrokers,
    MONGODB_URI: mongodbUri,
    TOPIC_PREFIX: prefix,
    DATABASE_PREFIX: prefix,
    ...keys,
    PAYOUT_QUERY_URL: 'http://127.0.0.1:1',
    CARD_QUERY_URL: 'http://127.0.0.1:1',
    CALLBACK_ALLOW_CIDRS: '127.0.0.0/8',
    CALLBACK_ADMIN_PORT: '0',
    NODE_EXTRA_CA_CERTS: certFile,
  };
  await startService('callback-dispatcher', { logFile: join(folder, 'dispatcher.log'), settings }, onEnd);
  return { receivers, loop: forked('callbacks-loop.js', onEnd), publisher, ...ports, cert };
}

/** Alternates, so that drift affects both alike. */
async function compare(bench: Bench): Promise<void> {
  console.log(`callbacks to ${RECEIVERS} receivers, per second`);
  console.log('                        bare axios   dispatcher   ratio');
  const alone = await measureBoth(bench);
  print('alone', alone);
  const stopHanging = await startHanging(bench);
  const beside = await measureBoth(bench);
  stopHanging();
  print(`beside ${RECEIVERS} that hang`, beside);
  const change = beside.dispatcher / alone.dispatcher;
  const relative = beside.dispatcher / beside.bare / (alone.dispatcher / alone.bare);
  console.log(
    `with hanging ones / without: ${change.toFixed(2)}; against the bare loop of the time: ${relative.toFixed(2)}`,
  );
}

interface Rates {
  bare: number;
  dispatcher: number;
}

async function measureBoth(bench: Bench): Promise<Rates> {
  const bare = await rateWhile(bench, async () => {
    bench.loop.send({ ports: bench.healthy, cert: bench.cert, body: BARE_BODY, forMs: WARM_UP_MS + MEASURE_MS });
    await once(bench.loop, 'message');
  });
  const dispatcher = await rateWhile(bench, () => feed(bench, WARM_UP_MS + MEASURE_MS));
  return { bare, dispatcher };
}

/** Acknowledged callbacks per second, as the receivers count them, once it is warm. */
async function rateWhile(bench: Bench, load: () => Promise<void>): Promise<number> {
  const ended = load();
  await pause(WARM_UP_MS);
  const [before, startedAt] = [await countOf(bench), performance.now()];
  await ended;
  const [after, endedAt] = [await countOf(bench), performance.now()];
  return ((after.acknowledged - before.acknowledged) * 1_000) / (endedAt - startedAt);
}

/**
 * Keeps a fixed number of outcomes outstanding, and waits for all of them at the end, because the next load measures on
 * its own.
 */
async function feed(bench: Bench, forMs: number): Promise<void> {
  const endAt = performance.now() + forMs;
  const { acknowledged: before } = await countOf(bench);
  let published = 0;
  while (performance.now() < endAt) {
    const { acknowledged } = await countOf(bench);
    const missing = OUTSTANDING - (published - (acknowledged - before));
    const batch = Array.from({ length: Math.max(missing, 0) }, (_, index) => {
      const port = bench.healthy[(published + index) % bench.healthy.length] ?? 0;
      return publishOutcome(bench, MERCHANT, port);
    });
    published += batch.length;
    await Promise.all(batch);
    await pause(LOOK_EVERY_MS);
  }
}

async function startHanging(bench: Bench): Promise<() => void> {
  const publishAll = (): void => void Promise.all(bench.hanging.map((port) => publishOutcome(bench, NEIGHBOUR, port)));
  publishAll();
  const timer = setInterval(publishAll, HANGING_EVERY_MS);
  const deadline = performance.now() + HANG_TIMEOUT_MS;
  while ((await countOf(bench)).hung < HUNG_AT_ONCE) {
    if (performance.now() > deadline) throw new Error('the dispatcher called too few hanging receivers');
    await pause(LOOK_EVERY_MS);
  }
  return () => clearInterval(timer);
}

function publishOutcome({ publisher }: Bench, merchantAccount: string, port: number): Promise<void> {
  const reference = newReference(newPaymentId(randomBytes), randomBytes);
  const now = Date.now();
  const data: OperationRecord = {
    paymentId: paymentIdOf(reference),
    reference,
    merchantAccount,
    transactionUniqueId: reference,
    transactionType: 'SALE3D',
    token: randomUUID(),
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    callbackUrl: `https://127.0.0.1:${port}/callback`,
    acceptedAt: now,
    occurredAt: now,
  };
  return publisher.publish({ declaration: CardCharged, data, key: data.paymentId });
}

function countOf({ receivers }: Bench): Promise<{ acknowledged: number; hung: number }> {
  receivers.send('count');
  return answer(receivers) as Promise<{ acknowledged: number; hung: number }>;
}

async function answer(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}

function forked(file: string, onEnd: OnEnd): ChildProcess {
  const child = fork(join(__dirname, file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onEnd(() => child.disconnect());
  return child;
}

function print(name: string, { bare, dispatcher }: Rates): void {
  const figures = [bare.toFixed(0), dispatcher.toFixed(0)].map((text) => text.padStart(10)).join('   ');
  console.log(`${name.padEnd(24)}${figures}   ${(dispatcher / bare).toFixed(2).padStart(5)}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
