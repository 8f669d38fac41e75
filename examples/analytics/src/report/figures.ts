import type { DuckDBConnection } from '@duckdb/node-api';
import { rowsOf } from './rows';

/** How operations that ask a bank for money ended. `failed`: in an error, or refused before they reached a bank. */
export interface Outcomes {
  readonly approved: number;
  readonly declined: number;
  readonly failed: number;
  readonly open: number;
}

/** Amounts are decimal text. */
export interface Figures {
  readonly total: Outcomes;
  readonly hours: readonly (Outcomes & { readonly hour: string })[];
  readonly brands: readonly (Outcomes & { readonly brand: string })[];
  readonly codes: readonly { readonly code: number; readonly message: string; readonly operations: number }[];
  readonly volumes: readonly CardVolume[];
  readonly callbackTimes: readonly { readonly limitMs: number | null; readonly callbacks: number }[];
  readonly callbacks: CallbackTotals;
  readonly payoutHours: readonly { readonly hour: string; readonly currency: string; readonly volume: string }[];
  readonly payouts: readonly PayoutTotals[];
  readonly unknown: readonly UnknownOutcomes[];
}

export interface CardVolume {
  readonly currency: string;
  readonly charged: string;
  readonly authorized: string;
  readonly settled: string;
  readonly refunded: string;
}

export interface CallbackTotals {
  readonly delivered: number;
  readonly trying: number;
  readonly exhausted: number;
  /** Of those that are delivered; null if none is. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
}

export interface PayoutTotals {
  readonly currency: string;
  readonly settled: number;
  readonly volume: string;
  readonly fees: string;
  readonly refusedByBank: number;
  readonly open: number;
  readonly returned: number;
}

/** Operations and payouts of one code whose outcome was unknown, and how they ended. */
export interface UnknownOutcomes {
  readonly kind: 'card' | 'payout';
  readonly code: number;
  readonly done: number;
  readonly notDone: number;
  readonly open: number;
  /** Longest time until the outcome was known; null while none is. */
  readonly longestMs: number | null;
}

/** Hours with a column. More would be thinner than a finger. */
const HOURS = 48;
const LEAST_HOURS = 12;
const CODES = 12;
const BRANDS = 8;
const CURRENCIES = 8;
/** Upper limits of the columns of times, in ms; the last has none. */
const CALLBACK_LIMITS_MS = [100, 250, 500, 1_000, 5_000, 30_000, 300_000, 3_600_000];

/** Operations that ask a bank for money. */
const PAYMENTS = `(FROM card_operations WHERE transaction_type IN ('AUTH', 'SALE', 'SALE3D'))`;
const OUTCOMES = `
  CAST(count(*) FILTER (WHERE outcome = 'approved') AS INTEGER) AS approved,
  CAST(count(*) FILTER (WHERE outcome = 'declined') AS INTEGER) AS declined,
  CAST(count(*) FILTER (WHERE outcome IN ('failed', 'refused')) AS INTEGER) AS failed,
  CAST(count(*) FILTER (WHERE outcome = 'open') AS INTEGER) AS open`;
/** The last hours up to the one to which the tables are complete. */
const HOUR_AXIS = `
  axis AS (
    SELECT unnest(generate_series(
      greatest(last_hour - INTERVAL ${HOURS - 1} HOUR, least(first_hour, last_hour - INTERVAL ${LEAST_HOURS - 1} HOUR)),
      last_hour, INTERVAL 1 HOUR)) AS hour
    FROM (
      SELECT
        date_trunc('hour', CAST(value AS TIMESTAMP)) AS last_hour,
        coalesce((SELECT date_trunc('hour', min(time)) FROM events), last_hour) AS first_hour
      FROM facts WHERE name = 'complete_to'
    )
  )`;

/** @param connection in a transaction, so that the figures agree */
export async function readFigures(connection: DuckDBConnection): Promise<Figures> {
  const rows = <Row extends object>(query: string): Promise<Row[]> => rowsOf<Row>(connection, query);
  const [total] = await rows<Outcomes>(`SELECT ${OUTCOMES} FROM ${PAYMENTS}`);
  const [callbacks] = await rows<CallbackTotals>(CALLBACKS);
  if (total === undefined || callbacks === undefined) throw new Error('a total without a row');
  return {
    total,
    callbacks,
    hours: await rows(`
      WITH ${HOUR_AXIS}, payments AS ${PAYMENTS}
      SELECT CAST(hour AS VARCHAR) AS hour, ${OUTCOMES}
      FROM axis LEFT JOIN payments ON date_trunc('hour', accepted_at) = hour GROUP BY hour ORDER BY hour`),
    brands: await rows(`
      SELECT coalesce(card_brand, 'unknown') AS brand, ${OUTCOMES} FROM ${PAYMENTS}
      GROUP BY brand ORDER BY count(*) DESC, brand LIMIT ${BRANDS}`),
    codes: await rows(`
      SELECT code, any_value(message) AS message, CAST(count(*) AS INTEGER) AS operations FROM ${PAYMENTS}
      WHERE outcome NOT IN ('approved', 'open') GROUP BY code ORDER BY operations DESC, code LIMIT ${CODES}`),
    volumes: await rows(VOLUMES),
    callbackTimes: await rows(CALLBACK_TIMES),
    payoutHours: await rows(`
      WITH ${HOUR_AXIS}, settled AS (FROM payouts WHERE outcome = 'settled'),
        currencies AS (SELECT DISTINCT currency FROM settled ORDER BY currency LIMIT ${CURRENCIES})
      SELECT CAST(hour AS VARCHAR) AS hour, currencies.currency, CAST(coalesce(sum(amount), 0) AS VARCHAR) AS volume
      FROM axis CROSS JOIN currencies
        LEFT JOIN settled ON date_trunc('hour', ended_at) = hour AND settled.currency = currencies.currency
      GROUP BY hour, currencies.currency ORDER BY currencies.currency, hour`),
    payouts: await rows(PAYOUTS),
    unknown: await rows(UNKNOWN),
  };
}

const VOLUMES = `
  SELECT
    currency,
    CAST(coalesce(sum(amount) FILTER (WHERE transaction_type IN ('SALE', 'SALE3D')), 0) AS VARCHAR) AS charged,
    CAST(coalesce(sum(amount) FILTER (WHERE transaction_type = 'AUTH'), 0) AS VARCHAR) AS authorized,
    CAST(coalesce(sum(amount) FILTER (WHERE transaction_type = 'SETTLE'), 0) AS VARCHAR) AS settled,
    CAST(coalesce(sum(amount) FILTER (WHERE transaction_type = 'REFUND'), 0) AS VARCHAR) AS refunded
  FROM card_operations
  WHERE outcome = 'approved' AND transaction_type IN ('SALE', 'SALE3D', 'AUTH', 'SETTLE', 'REFUND')
  GROUP BY currency ORDER BY count(*) DESC, currency LIMIT ${CURRENCIES}`;

const DELIVERY_MS = `datediff('millisecond', reported_at, delivered_at)`;

const CALLBACKS = `
  SELECT
    CAST(count(*) FILTER (WHERE state = 'delivered') AS INTEGER) AS delivered,
    CAST(count(*) FILTER (WHERE state = 'trying') AS INTEGER) AS trying,
    CAST(count(*) FILTER (WHERE state = 'exhausted') AS INTEGER) AS exhausted,
    CAST(quantile_disc(${DELIVERY_MS}, 0.5) AS DOUBLE) AS medianMs,
    CAST(quantile_disc(${DELIVERY_MS}, 0.95) AS DOUBLE) AS p95Ms
  FROM callbacks`;

const CALLBACK_TIMES = `
  WITH limits AS (
    SELECT
      unnest([${CALLBACK_LIMITS_MS.join(', ')}, NULL]) AS limitMs,
      unnest([${[0, ...CALLBACK_LIMITS_MS].join(', ')}]) AS fromMs
  ), delivered AS (
    SELECT greatest(0, ${DELIVERY_MS}) AS tookMs FROM callbacks WHERE delivered_at IS NOT NULL AND reported_at IS NOT NULL
  )
  SELECT limitMs, CAST(count(tookMs) AS INTEGER) AS callbacks
  FROM limits LEFT JOIN delivered ON tookMs >= fromMs AND (limitMs IS NULL OR tookMs < limitMs)
  GROUP BY limitMs, fromMs ORDER BY fromMs`;

const PAYOUTS = `
  SELECT
    currency,
    CAST(count(*) FILTER (WHERE outcome = 'settled') AS INTEGER) AS settled,
    CAST(coalesce(sum(amount) FILTER (WHERE outcome = 'settled'), 0) AS VARCHAR) AS volume,
    CAST(coalesce(sum(fee) FILTER (WHERE outcome = 'settled'), 0) AS VARCHAR) AS fees,
    CAST(count(*) FILTER (WHERE outcome IN ('declined', 'failed', 'frauded')) AS INTEGER) AS refusedByBank,
    CAST(count(*) FILTER (WHERE outcome = 'open') AS INTEGER) AS open,
    CAST(count(returned_at) AS INTEGER) AS returned
  FROM payouts GROUP BY currency ORDER BY count(*) DESC, currency LIMIT ${CURRENCIES}`;

const UNKNOWN = `
  WITH unknown AS (
    SELECT 'card' AS kind, unknown_code, outcome, ended_at, unknown_at FROM card_operations WHERE unknown_at IS NOT NULL
    UNION ALL
    SELECT 'payout', unknown_code, outcome, ended_at, unknown_at FROM payouts WHERE unknown_at IS NOT NULL
  )
  SELECT
    kind, unknown_code AS code,
    CAST(count(*) FILTER (WHERE outcome IN ('approved', 'settled')) AS INTEGER) AS done,
    CAST(count(*) FILTER (WHERE outcome NOT IN ('approved', 'settled', 'open')) AS INTEGER) AS notDone,
    CAST(count(*) FILTER (WHERE outcome = 'open') AS INTEGER) AS open,
    CAST(max(datediff('millisecond', unknown_at, ended_at)) AS DOUBLE) AS longestMs
  FROM unknown GROUP BY kind, unknown_code ORDER BY kind, unknown_code`;
