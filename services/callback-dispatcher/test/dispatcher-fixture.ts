import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type {
  CardEventType,
  CallbackRecord,
  OperationRecord,
  MessageDeclaration,
  PayoutEventType,
  PayoutRecord,
} from '@gateway/contracts';
import {
  callbackEvents,
  cardEvents,
  newPaymentId,
  newReference,
  payoutEvents,
  paymentIdOf,
  Secret,
} from '@gateway/contracts';
import { clockAt } from '@gateway/mongo';
import { listen } from '@gateway/service-kit';
import { kafkaOf, openWorld as openSharedWorld } from '@gateway/testing';
import { createAttempts } from '../src/adapters/mongo/attempts';
import { createDeliveries } from '../src/adapters/mongo/deliveries';
import type { CallbackDispatcher, CallbackDispatcherDeps } from '../src/app';
import { createCallbackDispatcher } from '../src/app';
import { showDelivery } from '../src/application/manage-deliveries';
import { settings } from '../src/config';
import type { Certificate } from './receiver';

export const MERCHANT = 'callback_merchant';
export const PASSWORD = 'callback_password';
export const PAYOUT_SECRET = 'callback_payout_secret';

/** A merchant, its outcomes, and dispatchers that trust the certificate. */
export async function openWorld(name: string, certificate: Certificate) {
  const world = await openSharedWorld<CallbackRecord & Record<string, unknown>>({
    name,
    service: 'callback-dispatcher',
    database: 'callbacks',
    source: 'card-processing',
    observed: Object.values(callbackEvents),
  });
  const { mongo, publisher, events, now } = world;
  const accounts = world.accounts.administration;
  await accounts.create({
    merchantAccount: MERCHANT,
    password: new Secret(PASSWORD),
    payoutSecret: new Secret(PAYOUT_SECRET),
  });

  const deliveries = createDeliveries(mongo, clockAt(now));
  const attempts = createAttempts(mongo);
  return {
    ...world,
    accounts,
    kafka: kafkaOf(world.space),
    deliveries,
    attempts,
    /** As operators see them. */
    attemptsOf: async (id: string) => (await showDelivery({ deliveries, attempts }, id))?.attempts ?? [],
    stored: (collection: string, id: string) => mongo.collection<{ _id: string }>(collection).findOne({ _id: id }),
    storedAttempts: (deliveryId: string) => mongo.collection('attempts').find({ deliveryId }).toArray(),
    indexes: (collection: string) => mongo.collection(collection).indexes(),
    eventsOf: (deliveryId: string) =>
      events.filter(({ data }) => data.deliveryId === deliveryId).map(({ type }) => type),

    start(
      env: Record<string, string> = {},
      changes: Partial<CallbackDispatcherDeps> = {},
    ): Promise<CallbackDispatcher> {
      const own = {
        CARD_QUERY_URL: 'http://127.0.0.1:1',
        PAYOUT_QUERY_URL: 'http://127.0.0.1:1',
        CALLBACK_ALLOW_CIDRS: '127.0.0.0/8',
        CALLBACK_ADMIN_PORT: '0',
        ...env,
      };
      return world.start(settings, own, ({ now: worldNow, ...deps }) =>
        createCallbackDispatcher({
          ...deps,
          // A wrong clock has to be corrected, not replaced.
          ...(changes.wallClock === undefined ? { now: worldNow } : {}),
          random: () => 0.5,
          ca: certificate.cert,
          ...changes,
        }),
      );
    },

    /** Publishes a final outcome. Returns the id of the event, which is the delivery's. */
    async publish(record: OperationRecord, options: { id?: string; type?: CardEventType } = {}): Promise<string> {
      const id = options.id ?? randomUUID();
      const declaration = cardEvents[options.type ?? 'CardCharged'];
      await publisher.publish({ declaration, data: record, key: record.paymentId, id });
      return id;
    },

    /** The same for a payout. @param more additional fields of the event type */
    async publishPayout(record: PayoutRecord, type: PayoutEventType = 'PayoutSettled', more = {}): Promise<string> {
      const id = randomUUID();
      const declaration: MessageDeclaration<PayoutRecord> = payoutEvents[type];
      await publisher.publish({ declaration, data: { ...record, ...more }, key: record.payoutId, id });
      return id;
    },

    async clear() {
      await mongo.collection('deliveries').deleteMany({});
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

/** Checks a signature like a merchant: interface.md, "Authentication", 2. */
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

/** Plays the query API of an outcome's owner. */
export async function startQueries() {
  const asked: { path: string; authorization: string | undefined }[] = [];
  let answer: { status: number; body: unknown } = { status: 503, body: {} };
  let ready: Promise<void> = Promise.resolve();
  const { port, close } = await listen({
    listener: (request, response) => {
      asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
      void ready.then(() =>
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body)),
      );
    },
    port: 0,
    host: '127.0.0.1',
  });
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (status: number, body: unknown) => void (answer = { status, body }),
    /** Queries are answered when it is fulfilled. */
    hold: (until: Promise<void>) => void (ready = until),
    close: () => close(0),
  };
}
