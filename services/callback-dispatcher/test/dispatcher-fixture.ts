import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { openAccounts } from '@gateway/accounts';
import type {
  CardEventType,
  CallbackRecord,
  OperationRecord,
  MessageDeclaration,
  PayoutEventType,
  PayoutRecord,
} from '@gateway/contracts';
import { callbackEvents, cardEvents, newPaymentId, newReference, payoutEvents, paymentIdOf } from '@gateway/contracts';
import { createKafka, createPublisher, createWorker, on } from '@gateway/messaging';
import type { Envelope } from '@gateway/messaging';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createMetrics, listen, loadConfig, Secret } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { failTest, openSpace, silentLogger } from '@gateway/testing';
import { createAttempts } from '../src/adapters/mongo/attempts';
import { createDeliveries } from '../src/adapters/mongo/deliveries';
import type { CallbackDispatcher, CallbackDispatcherDeps } from '../src/app';
import { createCallbackDispatcher } from '../src/app';
import { settings } from '../src/config';
import type { Certificate } from './receiver';

export const VAULT_KEYS = `k1:${randomBytes(32).toString('base64')}`;
export const MERCHANT = 'callback_merchant';
export const PASSWORD = 'callback_password';
export const PAYOUT_SECRET = 'callback_payout_secret';

export interface CallbackEvent {
  type: string;
  key: string;
  subject: string;
  causationId: string | undefined;
  data: CallbackRecord & Record<string, unknown>;
}

/** A logger that keeps its lines, printed as the real one prints fields. */
export function recordingLogger(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>): void => {
    const error = fields?.['error'];
    lines.push(`${message} ${JSON.stringify(fields)} ${error instanceof Error ? (error.stack ?? '') : ''}`);
  };
  return { debug: write, info: write, warn: write, error: write, child: () => recordingLogger(lines) };
}

/** What a test needs beside the dispatcher: topics, databases, accounts, and a clock that goes ahead on request. */
export async function openWorld(name: string, certificate: Certificate) {
  const space: Space = await openSpace(name);
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const lines: string[] = [];
  const kafka = createKafka({ brokers: space.brokers.split(','), clientId: 'test', logger: silentLogger });
  const { topicPrefix } = space;
  const metrics = createMetrics('test', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'card-processing', topicPrefix, metrics, logger: silentLogger });
  await publisher.start();
  const events: CallbackEvent[] = [];
  const seen = new Set<string>();
  const observer = createWorker({
    kafka,
    groupId: 'observer',
    topicPrefix,
    handlers: Object.values(callbackEvents).map((declaration) =>
      on(declaration, async ({ id, type, key, subject, causationId, data }: Envelope) => {
        // An event may be published twice, and is the same one then.
        if (seen.has(id)) return;
        seen.add(id);
        events.push({ type, key, subject, causationId, data: data as CallbackEvent['data'] });
      }),
    ),
    publisher,
    onFatal: failTest,
    metrics,
    logger: silentLogger,
  });
  await observer.start();
  const accounts = await openAccounts({ uri: space.mongoUri, databasePrefix: space.databasePrefix, VAULT_KEYS });
  await accounts.administration.create({
    merchantAccount: MERCHANT,
    password: new Secret(PASSWORD),
    payoutSecret: new Secret(PAYOUT_SECRET),
  });
  const mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}callbacks` });
  const started: CallbackDispatcher[] = [];

  return {
    space,
    kafka,
    publisher,
    accounts: accounts.administration,
    deliveries: createDeliveries(mongo, clockAt(now)),
    attempts: createAttempts(mongo),
    stored: (collection: string, id: string) => mongo.collection<{ _id: string }>(collection).findOne({ _id: id }),
    indexes: (collection: string) => mongo.collection(collection).indexes(),
    events,
    lines,
    now,
    pass: (ms: number) => void (aheadMs += ms),
    eventsOf: (deliveryId: string) =>
      events.filter(({ data }) => data.deliveryId === deliveryId).map(({ type }) => type),

    async start(
      env: Record<string, string> = {},
      deps: Partial<CallbackDispatcherDeps> = {},
    ): Promise<CallbackDispatcher> {
      const config = loadConfig(settings, {
        KAFKA_BROKERS: space.brokers,
        MONGODB_URI: space.mongoUri,
        TOPIC_PREFIX: topicPrefix,
        DATABASE_PREFIX: space.databasePrefix,
        VAULT_KEYS,
        CARD_QUERY_URL: 'http://127.0.0.1:1',
        PAYOUT_QUERY_URL: 'http://127.0.0.1:1',
        CALLBACK_ALLOW_CIDRS: '127.0.0.0/8',
        CALLBACK_ADMIN_PORT: '0',
        ...env,
      });
      const dispatcher = createCallbackDispatcher({
        config,
        logger: recordingLogger(lines),
        // A wrong clock has to be corrected, not replaced.
        ...(deps.wallClock === undefined ? { now } : {}),
        metrics: createMetrics('callback-dispatcher', { processFigures: false }),
        random: () => 0.5,
        ca: certificate.cert,
        onFatal: failTest,
        ...deps,
      });
      await dispatcher.start();
      started.push(dispatcher);
      return dispatcher;
    },

    /** Publishes an event that tells a final outcome; its id, which is the delivery's. */
    async publish(record: OperationRecord, options: { id?: string; type?: CardEventType } = {}): Promise<string> {
      const id = options.id ?? randomUUID();
      const declaration = cardEvents[options.type ?? 'CardSold'];
      await publisher.publish({ declaration, data: record, key: record.paymentId, id });
      return id;
    },

    /** The same of a payout; `more` is what its type has beside a payout's record. */
    async publishPayout(record: PayoutRecord, type: PayoutEventType = 'PayoutSettled', more = {}): Promise<string> {
      const id = randomUUID();
      const declaration: MessageDeclaration<PayoutRecord> = payoutEvents[type];
      await publisher.publish({ declaration, data: { ...record, ...more }, key: record.payoutId, id });
      return id;
    },

    async clear() {
      await mongo.collection('deliveries').deleteMany({});
    },

    async stopDispatchers() {
      for (const dispatcher of started.splice(0)) await dispatcher.stop();
    },

    async close() {
      for (const dispatcher of started) await dispatcher.stop();
      await observer.stop();
      await publisher.stop();
      await mongo.close();
      await accounts.close();
      await space.remove();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export function outcome(callbackUrl: string | undefined, fields: Partial<OperationRecord> = {}): OperationRecord {
  const reference = newReference(newPaymentId(randomBytes), randomBytes);
  return {
    paymentId: paymentIdOf(reference),
    reference,
    merchantAccount: MERCHANT,
    transactionUniqueId: `order-${randomUUID().slice(0, 8)}`,
    transactionType: 'SALE3D',
    token: randomUUID(),
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    acceptedAt: Date.now(),
    occurredAt: Date.now(),
    ...fields,
  };
}

export function payoutOutcome(callbackUrl: string | undefined, fields: Partial<PayoutRecord> = {}): PayoutRecord {
  const reference = newReference(newPaymentId(randomBytes), randomBytes);
  return {
    payoutId: paymentIdOf(reference),
    reference,
    merchantAccount: MERCHANT,
    transactionUniqueId: `payout-${randomUUID().slice(0, 8)}`,
    acceptedAt: Date.now(),
    amountE4: 100_000,
    feeE4: 0,
    currency: 'EUR',
    token: randomUUID(),
    instant: false,
    receiverCountry: 'DE',
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    occurredAt: Date.now(),
    ...fields,
  };
}

/** What a merchant does: interface.md, "Authentication", 2. */
export function isSignedWith(secret: string, fields: Record<string, string>): boolean {
  const { checkSum, ...others } = fields;
  const items = Object.keys(others)
    .sort()
    .map((key) => `${key}=${others[key]}`);
  return (
    createHash('sha256')
      .update([...items, secret].join('|'))
      .digest('hex') === checkSum
  );
}

export async function metricsOf(dispatcher: CallbackDispatcher): Promise<string> {
  return (await fetch(`http://127.0.0.1:${dispatcher.ports.ops}/metrics`)).text();
}

/** Stands where the query API of an outcome's owner does. */
export async function startQueries() {
  const asked: { path: string; authorization: string | undefined }[] = [];
  let answer: { status: number; body: unknown } = { status: 503, body: {} };
  const { port, close } = await listen({
    listener: (request, response) => {
      asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    },
    port: 0,
    host: '127.0.0.1',
  });
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (status: number, body: unknown) => void (answer = { status, body }),
    close: () => close(0),
  };
}
