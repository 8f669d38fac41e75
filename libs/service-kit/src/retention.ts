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
const REAL_RECORDS: Retention = { days: 760, mayShorten: false };

/** Of records in the test currency, unless set: long enough to look into a test, short enough for tests in bulk. */
const TEST_RECORDS: Retention = { days: 30, mayShorten: false };

/** How long records are kept, and how long those of the test currency are. */
export interface RecordRetention {
  readonly real: Retention;
  readonly test: Retention;
}

export const RECORD_RETENTION: RecordRetention = { real: REAL_RECORDS, test: TEST_RECORDS };

/** Longer than the longest hold of an authorization, 366 days: a SETTLE needs the journal entry of its AUTH. */
const MIN_DAYS = 400;
/** Longer than an Idempotency-Key is known. */
const TEST_MIN_DAYS = 2;
/** MongoDB accepts at most 2^31 seconds. */
const MAX_DAYS = 24_000;

/** For the description of a setting whose default is that. */
export const whenUnset = ({ days }: Retention): string =>
  `Unset, ${days}, or the longer time that the database has; [a lower value deletes](operator.md#how-long-data-is-kept)`;

/** A setting of services that keep records in the test currency. */
export const sandboxRetentionSettings = {
  SANDBOX_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      minimum: TEST_MIN_DAYS,
      maximum: MAX_DAYS,
      description: `How long journal entries, payments, authentications, payouts and callbacks in XTS are kept after they have ended, unless others are removed sooner; the same in every service. ${whenUnset(TEST_RECORDS)}`,
    }),
  ),
};

/** Settings of services that keep what merchants have asked for. */
export const retentionSettings = {
  RECORD_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      minimum: MIN_DAYS,
      maximum: MAX_DAYS,
      description: `How long journal entries, payments, authentications and payouts are kept after they have ended; the same in every service. Afterwards CHECK finds nothing, and a REFUND gets 3003. ${whenUnset(REAL_RECORDS)}`,
    }),
  ),
  ...sandboxRetentionSettings,
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

/** What {@link retentionSettings} ask for. */
export function recordRetentionOf(
  settings: { RECORD_RETENTION_DAYS?: number | undefined; SANDBOX_RETENTION_DAYS?: number | undefined },
  mayShorten?: boolean,
): RecordRetention {
  return {
    real: retentionOf(settings.RECORD_RETENTION_DAYS, REAL_RECORDS, mayShorten),
    test: sandboxRetentionOf(settings, mayShorten),
  };
}

/** What {@link sandboxRetentionSettings} ask for. */
export function sandboxRetentionOf(
  settings: { SANDBOX_RETENTION_DAYS?: number | undefined },
  mayShorten?: boolean,
): Retention {
  return retentionOf(settings.SANDBOX_RETENTION_DAYS, TEST_RECORDS, mayShorten);
}

/** CHECK looks into the journal first: an entry whose payment were gone would be reported as pending. */
const OWNERS_LONGER_DAYS = 1;

/** How long the owner of a payment or payout keeps it after its end: a day longer than the journal. */
export function retentionOfOwner({ real, test }: RecordRetention): RecordRetention {
  return { real: aDayLonger(real), test: aDayLonger(test) };
}

function aDayLonger({ days, mayShorten }: Retention): Retention {
  return { days: days + OWNERS_LONGER_DAYS, mayShorten };
}
