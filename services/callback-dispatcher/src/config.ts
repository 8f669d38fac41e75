import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { accountsSettings } from '@gateway/accounts';
import { commonSettings } from '@gateway/service-kit';
import { DISPATCHER_LIMITS } from './application/dispatcher';
import { DEFAULT_RETRY_SCHEDULE, RETRY_SCHEDULE_PATTERN } from './domain/retry-schedule';

const CONCURRENCY_MAX = 4_096;

export const settings = Type.Object({
  ...commonSettings,
  ...accountsSettings,
  /** card-processing's internal query API. */
  CARD_QUERY_URL: Type.String({ minLength: 1 }),
  /** payout's internal query API. */
  PAYOUT_QUERY_URL: Type.String({ minLength: 1 }),
  /** Seconds after each failed attempt, comma-separated; after the last one the callback is exhausted. */
  CALLBACK_RETRY_SCHEDULE: Type.String({ default: DEFAULT_RETRY_SCHEDULE, pattern: RETRY_SCHEDULE_PATTERN }),
  /** Comma-separated ranges that may be dialled although they are not of the internet. */
  CALLBACK_ALLOW_CIDRS: Type.String({ default: '' }),
  /** Internal admin API; 0 takes a free port. */
  CALLBACK_ADMIN_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 9202 }),
  /** Callbacks at a time, in one replica. */
  CALLBACK_CONCURRENCY: Type.Integer({ minimum: 2, maximum: CONCURRENCY_MAX, default: DISPATCHER_LIMITS.concurrency }),
  /** Of these, for one merchant, whatever the number of its addresses. */
  CALLBACK_CONCURRENCY_PER_MERCHANT: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.concurrencyPerMerchant,
  }),
  /** Of a merchant's, to addresses that may hang: unknown ones, and those that were slow or silent last time. */
  CALLBACK_UNPROVEN_PER_MERCHANT: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.unprovenPerMerchant,
  }),
  /** Of a merchant's, to one address. */
  CALLBACK_CONCURRENCY_PER_ADDRESS: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.concurrencyPerAddress,
  }),
});

export type Config = Readonly<Static<typeof settings>>;
