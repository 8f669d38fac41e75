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
import { on, topicOf } from '@gateway/messaging';
import { clockAt } from '@gateway/mongo';
import { openWorld as openSharedWorld, until } from '@gateway/testing';
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

/** Expiry services, and a stand-in for card-processing that only records commands. */
export async function openWorld(name: string) {
  const world = await openSharedWorld({ name, service: 'auth-expiry', database: 'expiry', source: 'card-processing' });
  const { mongo, publisher, now } = world;
  const { topicPrefix } = world.space;
  const asks: Ask[] = [];
  const playCardProcessing = () =>
    world.consume('card-processing', [on(ExpireAuthorization, async ({ key, data }) => void asks.push({ key, data }))]);
  let cardProcessing = await playCardProcessing();
  const deadlines = createDeadlines(mongo, clockAt(now));
  await deadlines.ensureIndexes();
  const collection = mongo.collection<StoredDeadline>('deadlines');

  const stored = (reference: string) => collection.findOne({ _id: reference });
  return {
    ...world,
    deadlines,
    collection,
    asks,
    asksFor: (reference: string) => asks.filter(({ data }) => data.reference === reference).length,
    stored,
    isOpen: (reference: string) => until('a deadline', async () => (await stored(reference))?.dueAt !== undefined),
    hasEnded: (reference: string) => until('a tombstone', async () => (await stored(reference))?.endedAt !== undefined),

    cardProcessingGoes: () => cardProcessing.stop(),
    async cardProcessingComes(): Promise<void> {
      cardProcessing = await playCardProcessing();
    },

    start: (env: Record<string, string> = {}): Promise<AuthExpiry> => world.start(settings, env, createAuthExpiry),

    async authorized(reference: string, expiresAt: number): Promise<void> {
      await publish('CardAuthorized', reference, { expiresAt });
    },

    /** The AUTH with this reference was settled or voided. */
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
  };

  async function publish(type: CardEventType, reference: string, more: object): Promise<void> {
    const declaration = cardEvents[type] as MessageDeclaration<DataOf<typeof cardEvents.CardCharged>>;
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
