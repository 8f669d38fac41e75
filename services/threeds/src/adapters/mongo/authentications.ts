import { TEST_CURRENCY } from '@gateway/contracts';
import type { AggregateStore, Clock, Collection, MongoConnection, OutboxOwner } from '@gateway/mongo';
import {
  countDueByAccount,
  createAggregateStore,
  createDueByAccount,
  dueByAccountIndex,
  ensureEndIndex,
  FIGURE_BOUNDS,
  outboxIndex,
} from '@gateway/mongo';
import type { RecordRetention } from '@gateway/service-kit';
import { RECORD_RETENTION, retentionOfOwner } from '@gateway/service-kit';
import type { Authentications, StoredAuthentication } from '../../application/ports';
import type { Authentication } from '../../domain/authentication';
import { hasEnded } from '../../domain/authentication';

const COLLECTION = 'authentications';

const IS_SANDBOX_CHALLENGE = { currency: TEST_CURRENCY, 'state.expiresAt': { $exists: true } } as const;
/** Only what a sandbox account's clock can move. */
const SANDBOX_CHALLENGES = {
  key: { merchantAccount: 1 },
  name: 'sandbox_challenges',
  partialFilterExpression: IS_SANDBOX_CHALLENGE,
} as const;

const indexes = [
  outboxIndex,
  dueByAccountIndex,
  { key: { pageId: 1 }, name: 'page_id', unique: true },
  { key: { 'ids.threeDSServerTransId': 1 }, name: 'three_ds_server_trans_id', unique: true },
  {
    key: { 'state.expiresAt': 1 },
    name: 'challenge_expires_at',
    partialFilterExpression: { 'state.expiresAt': { $exists: true } },
  },
  SANDBOX_CHALLENGES,
] as const;

export interface AuthenticationsAdapter extends Authentications, AggregateStore<Authentication> {
  ensureIndexes(retention?: RecordRetention): Promise<void>;
  /** What was due at that epoch ms, at most 10,000: questions to the directory server, and challenges to expire. */
  countOverdue: Record<'inquiry' | 'challenge', (before: number) => Promise<number>>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createAuthentications(mongo: MongoConnection, clock: Clock): AuthenticationsAdapter {
  const collection = mongo.collection<StoredAuthentication>(COLLECTION);
  const endOf = (one: Authentication) => (hasEnded(one) ? clock.now() : undefined);
  return {
    ...createAggregateStore<Authentication>(collection, endOf),
    due: createDueByAccount(collection, clock),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    countOverdue: {
      inquiry: (before) => countDueByAccount(collection, before),
      challenge: (before) => collection.countDocuments({ 'state.expiresAt': { $lte: before } }, FIGURE_BOUNDS),
    },
    findByPage: async (pageId) => await collection.findOne({ pageId }),
    findByTransaction: async (id) => await collection.findOne({ 'ids.threeDSServerTransId': id }),
    async findExpired(now, limit) {
      const overdue = { 'state.expiresAt': { $lte: now } };
      return await collection.find(overdue).sort({ 'state.expiresAt': 1 }).limit(limit).toArray();
    },
    async behind({ merchantAccount, aheadMs }, limit) {
      const behind = { merchantAccount, ...IS_SANDBOX_CHALLENGE, 'state.clockMs': { $not: { $gte: aheadMs } } };
      return await collection.find(behind, { hint: SANDBOX_CHALLENGES.name }).limit(limit).toArray();
    },
    async ensureIndexes(retention = RECORD_RETENTION) {
      await collection.createIndexes(indexes.map((index) => ({ ...index })));
      await ensureEndIndex(collection, endOf, retentionOfOwner(retention));
    },
  };
}
