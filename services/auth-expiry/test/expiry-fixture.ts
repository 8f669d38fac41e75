import { randomBytes, randomUUID } from 'node:crypto';
import type { CardEventType, DataOf, ExpireAuthorizationData, MessageDeclaration } from '@gateway/contracts';
import {
  cardEvents,
  ExpireAuthorization,
  newPaymentId,
  newReference,
  paymentIdOf,
  systemReference,
} from '@gateway/contracts';
import type { Envelope } from '@gateway/messaging';
import { createKafka, createPublisher, createWorker, on, topicOf } from '@gateway/messaging';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createMetrics, loadConfig } from '@gateway/service-kit';
import { failTest, openSpace, silentLogger, until } from '@gateway/testing';
import type { StoredDeadline } from '../src/adapters/mongo/deadlines';
import { createDeadlines } from '../src/adapters/mongo/deadlines';
import type { AuthExpiry } from '../src/app';
import { createAuthExpiry } from '../src/app';
import { settings } from '../src/config';

export const MERCHANT = 'expiry_merchant';

export interface Ask {
  key: string;
  data: ExpireAuthorizationData;
}

/** A logger that keeps what it is told. */
function recordingLogger(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { debug: write, info: write, warn: write, error: write, child: () => recordingLogger(lines) };
}

/** Topics, a database, a card-processing of the test's, and a clock that goes ahead on request. */
export async function openWorld(name: string) {
  const space = await openSpace(name);
  const { topicPrefix } = space;
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const lines: string[] = [];
  const logger = silentLogger;
  const metrics = createMetrics('test', { processFigures: false });
  const kafka = createKafka({ brokers: space.brokers.split(','), clientId: 'test', logger });
  const publisher = createPublisher({ kafka, source: 'card-processing', topicPrefix, metrics, logger });
  await publisher.start();
  const asks: Ask[] = [];
  /** It takes what it is asked and does nothing about it. */
  async function playCardProcessing() {
    const played = createWorker({
      kafka: createKafka({ brokers: space.brokers.split(','), clientId: 'played', logger }),
      groupId: 'card-processing',
      topicPrefix,
      handlers: [
        on(
          ExpireAuthorization,
          async ({ key, data }: Envelope<ExpireAuthorizationData>) => void asks.push({ key, data }),
        ),
      ],
      publisher,
      onFatal: failTest,
      metrics: createMetrics('played', { processFigures: false }),
      logger,
    });
    await played.start();
    return played;
  }
  let cardProcessing = await playCardProcessing();
  const mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}expiry` });
  const deadlines = createDeadlines(mongo, clockAt(now));
  await deadlines.ensureIndexes();
  const collection = mongo.collection<StoredDeadline>('deadlines');
  const started: AuthExpiry[] = [];

  const stored = (reference: string) => collection.findOne({ _id: reference });
  return {
    space,
    deadlines,
    collection,
    asks,
    lines,
    now,
    pass: (ms: number) => void (aheadMs += ms),
    asksFor: (reference: string) => asks.filter(({ data }) => data.reference === reference).length,
    stored,
    isOpen: (reference: string) => until('a deadline', async () => (await stored(reference))?.dueAt !== undefined),
    hasEnded: (reference: string) => until('a tombstone', async () => (await stored(reference))?.endedAt !== undefined),

    cardProcessingGoes: () => cardProcessing.stop(),
    async cardProcessingComes(): Promise<void> {
      cardProcessing = await playCardProcessing();
    },

    async start(env: Record<string, string> = {}): Promise<AuthExpiry> {
      const config = loadConfig(settings, {
        KAFKA_BROKERS: space.brokers,
        MONGODB_URI: space.mongoUri,
        TOPIC_PREFIX: topicPrefix,
        DATABASE_PREFIX: space.databasePrefix,
        ...env,
      });
      const service = createAuthExpiry({
        config,
        logger: recordingLogger(lines),
        now,
        metrics: createMetrics('auth-expiry', { processFigures: false }),
        onFatal: failTest,
      });
      await service.start();
      started.push(service);
      return service;
    },

    async authorized(reference: string, expiresAt: number): Promise<void> {
      await publish('CardAuthorized', reference, { expiresAt });
    },

    /** The AUTH of this reference was settled or voided. */
    async ended(type: 'AuthorizationSettled' | 'AuthorizationVoided', baseReference: string): Promise<void> {
      await publish(type, systemReference(paymentIdOf(baseReference), 1), { baseReference });
    },

    publish,

    async publishBroken(type: CardEventType, reference: string): Promise<void> {
      const value = Buffer.from(JSON.stringify({ reference, paymentId: paymentIdOf(reference) }));
      const headers = { ce_id: randomUUID(), ce_type: type, ce_source: 'test', ce_time: new Date().toISOString() };
      const topic = topicOf(topicPrefix, 'cardEvents');
      const rest = { ce_specversion: '1.0', ce_subject: paymentIdOf(reference) };
      await publisher.publishRaw({ topic, key: paymentIdOf(reference), value, headers: { ...headers, ...rest } });
    },

    async stopServices() {
      for (const service of started.splice(0)) await service.stop();
    },

    async close() {
      for (const service of started) await service.stop();
      await cardProcessing.stop();
      await publisher.stop();
      await mongo.close();
      await space.remove();
    },
  };

  async function publish(type: CardEventType, reference: string, more: object): Promise<void> {
    const declaration = cardEvents[type] as MessageDeclaration<DataOf<typeof cardEvents.CardSold>>;
    const data = {
      paymentId: paymentIdOf(reference),
      reference,
      merchantAccount: MERCHANT,
      transactionUniqueId: `order-${reference}`,
      transactionType: type === 'AuthorizationVoided' ? ('VOID' as const) : ('AUTH' as const),
      status: 'success' as const,
      code: 0 as const,
      message: 'Transaction processed successfully',
      acceptedAt: now(),
      occurredAt: now(),
      ...more,
    };
    await publisher.publish({ declaration, data, key: data.paymentId });
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export function newAuth(paymentId = newPaymentId(randomBytes)): string {
  return newReference(paymentId, randomBytes);
}

export async function metricsOf(service: AuthExpiry): Promise<string> {
  return (await fetch(`http://127.0.0.1:${service.ports.ops}/metrics`)).text();
}
