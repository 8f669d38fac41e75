import { Type } from '@sinclair/typebox';

/** 25 months. A card payment can be disputed for 540 days, and a SEPA payment can come back for 13 months. */
export const RECORD_RETENTION_DEFAULT_DAYS = 760;

/** Longer than the longest hold of an authorization, 366 days: a SETTLE needs the journal entry of its AUTH. */
const MIN_DAYS = 400;

/** Settings of services that keep what merchants have asked for. */
export const retentionSettings = {
  RECORD_RETENTION_DAYS: Type.Integer({
    minimum: MIN_DAYS,
    maximum: 24_000,
    default: RECORD_RETENTION_DEFAULT_DAYS,
    description:
      'How long journal entries, payments, authentications and payouts are kept after they have ended; the same in every service. Afterwards CHECK finds nothing, and a REFUND gets 3003',
  }),
};

const DAY_SECONDS = 86_400;
/** CHECK looks into the journal first: an entry whose payment were gone would be reported as pending. */
const OWNERS_LONGER_DAYS = 1;

/** How long the owner of a payment or payout keeps it after its end: a day longer than the journal. */
export function ownerRetentionSeconds(retentionDays: number): number {
  return (retentionDays + OWNERS_LONGER_DAYS) * DAY_SECONDS;
}
