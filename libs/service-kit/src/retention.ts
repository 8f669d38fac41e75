import { Type } from '@sinclair/typebox';

/** How long a collection keeps its documents. */
export interface Retention {
  readonly days: number;
  /** Whether this ends a longer time that the database has: it then removes everything that is older. */
  readonly mayShorten: boolean;
}

/**
 * Of records, unless set: 25 months. A card payment can be disputed for 540 days, a SEPA payment can come back for 13
 * months.
 */
export const RECORD_RETENTION: Retention = { days: 760, mayShorten: false };

/** Longer than the longest hold of an authorization, 366 days: a SETTLE needs the journal entry of its AUTH. */
const MIN_DAYS = 400;

/** For the description of a setting whose default is that. */
export const whenUnset = ({ days }: Retention): string =>
  `Unset, ${days}, or the longer time that the database has; [a lower value deletes](operator.md#how-long-data-is-kept)`;

/** Settings of services that keep what merchants have asked for. */
export const retentionSettings = {
  RECORD_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      minimum: MIN_DAYS,
      maximum: 24_000,
      description: `How long journal entries, payments, authentications and payouts are kept after they have ended; the same in every service. Afterwards CHECK finds nothing, and a REFUND gets 3003. ${whenUnset(RECORD_RETENTION)}`,
    }),
  ),
};

/**
 * What a setting asks for. Only a value that is set may shorten: one process that lacks the setting must not make the
 * database remove what the others keep.
 *
 * @param days the setting
 * @param mayShorten false in provisioning, which never does
 */
export function retentionOf(days: number | undefined, byDefault: Retention, mayShorten = true): Retention {
  return days === undefined ? byDefault : { days, mayShorten };
}

/** CHECK looks into the journal first: an entry whose payment were gone would be reported as pending. */
const OWNERS_LONGER_DAYS = 1;

/** How long the owner of a payment or payout keeps it after its end: a day longer than the journal. */
export function retentionOfOwner({ days, mayShorten }: Retention): Retention {
  return { days: days + OWNERS_LONGER_DAYS, mayShorten };
}
