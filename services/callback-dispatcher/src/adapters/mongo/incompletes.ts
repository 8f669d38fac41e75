import type { Clock, MongoConnection } from '@gateway/mongo';
import { createDueByAccount, createGroupInsert, dueByAccountIndexOn, FIGURE_BOUNDS } from '@gateway/mongo';
import { currentTrace } from '@gateway/service-kit';
import type { IncompleteCallback, Incompletes } from '../../application/ports';
import type { CallbackKind } from '../../domain/callback';

const COLLECTION = 'incomplete';
const DUE_AT = { card: 'cardDueAt', payout: 'payoutDueAt' } as const satisfies Record<CallbackKind, string>;
const dueIndexes = Object.entries(DUE_AT).map(([kind, field]) => dueByAccountIndexOn(field, `due_${kind}`));
/** For an erasure, which must wait for them. */
const byPaymentIndex = { key: { 'callback.paymentId': 1 }, name: 'by_payment' } as const;
const arrivalIndex = { key: { arrivedAt: 1 }, name: 'by_arrival' } as const;

export interface IncompletesAdapter extends Incompletes {
  ensureIndexes(): Promise<void>;
  /** How many arrived before that time, at most 10,000, and when the first of all did (epoch ms). */
  waiting(before: number): Promise<{ count: number; oldestAt?: number }>;
}

/** A collection of its own, so that every stored delivery has all its fields. */
export function createIncompletes(mongo: MongoConnection, clock: Clock): IncompletesAdapter {
  const collection = mongo.collection<IncompleteCallback>(COLLECTION);
  const insert = createGroupInsert(collection);
  const dueOf = (kind: CallbackKind) => createDueByAccount(collection, clock, {}, DUE_AT[kind]);
  return {
    due: { card: dueOf('card'), payout: dueOf('payout') },
    async keep({ eventId, callback, ...more }) {
      const { correlationId = callback.paymentId, traceparent } = currentTrace() ?? {};
      const now = clock.now();
      // A redelivered event finds its own.
      await insert({
        _id: eventId,
        merchantAccount: callback.merchantAccount,
        callback,
        ...more,
        correlationId,
        ...(traceparent === undefined ? {} : { traceparent }),
        arrivedAt: now,
        [DUE_AT[callback.kind]]: now,
      });
    },
    async remove(eventId) {
      await collection.deleteOne({ _id: eventId });
    },
    async waiting(before) {
      const hint = arrivalIndex.name;
      const { maxTimeMS } = FIGURE_BOUNDS;
      const count = await collection.countDocuments({ arrivedAt: { $lt: before } }, { hint, ...FIGURE_BOUNDS });
      const oldest = await collection.findOne({}, { sort: arrivalIndex.key, hint, maxTimeMS });
      return { count, ...(oldest === null ? {} : { oldestAt: oldest.arrivedAt }) };
    },
    async ensureIndexes() {
      await collection.createIndexes([...dueIndexes, byPaymentIndex, arrivalIndex]);
    },
  };
}
