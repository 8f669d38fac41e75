/** `page`: somebody has to act now, at night too. `ticket`: on the next working day. `none`: nobody, as it always fires. */
export type Severity = 'page' | 'ticket' | 'none';

/**
 * What an alert compares. `value` is PromQL that returns series on a healthy system too, so that a misspelt metric shows as
 * a missing series and not as an alert that never fires.
 */
export interface Comparison {
  readonly value: string;
  readonly operator: '>' | '<';
  readonly threshold: number;
  /** The threshold is an age in seconds, or a count within a window: it shrinks with all times in a test. */
  readonly growsWithTime?: true;
}

/** Series of a test by selector, one sample a minute, in promtool's notation. */
export type Series = Readonly<Record<string, string>>;

/** Samples of a gauge that stays, and of a counter that grows by the same number each minute. */
export const steady = (value: number, minutes = 60): string => `${value}+0x${minutes}`;
export const growing = (eachMinute: number, minutes = 60): string => `0+${eachMinute}x${minutes}`;

/** What promtool expects of an alert that fires. */
export interface Fired {
  readonly labels: Readonly<Record<string, string>>;
  /** All that fire under the name; its own unless given. */
  readonly severities?: readonly Severity[];
}

/** One more case of an alert. */
export interface AlertCase {
  /** Completes a sentence that begins with the alert's name. */
  readonly what: string;
  readonly atMinute: number;
  readonly series: Series;
  /** None: it is silent. */
  readonly fires?: Fired;
}

/**
 * Time in which a ticket about a single event stays, as a range of PromQL: a working day begins within it, whatever weekend
 * comes between. Then the alert ends, whether somebody has looked or not.
 */
export const TICKET_WINDOW = '[3d]';
/** When a case looks at such a ticket: after a weekend. */
export const TICKET_MINUTE = 2 * 24 * 60;

export interface AlertTest {
  /** When promtool looks. */
  readonly atMinute: number;
  readonly fires: Fired & { readonly series: Series };
  /** A near miss: just below the threshold, or not for long enough. None for what always fires. */
  readonly silent?: Series;
  readonly more?: readonly AlertCase[];
}

export interface Alert {
  /** Also the heading of its paragraph in docs/runbook.md. Only burn rates share a name, with two severities. */
  readonly name: string;
  readonly severity: Severity;
  /** Alternatives; each holds if all of its comparisons do. */
  readonly when: readonly (readonly Comparison[])[];
  /** How long it must hold. */
  readonly forMinutes: number;
  /** One sentence. `{{ $labels.… }}` is the only template. */
  readonly summary: string;
  readonly test: AlertTest;
}

export const above = (value: string, threshold: number): Comparison => ({ value, operator: '>', threshold });
export const below = (value: string, threshold: number): Comparison => ({ value, operator: '<', threshold });
export const olderThan = (value: string, seconds: number): Comparison => ({
  ...above(value, seconds),
  growsWithTime: true,
});
/** Of an `increase`, which extrapolates: at least three events may show as 2.9. */
export const atLeast = (events: number, value: string): Comparison => ({
  ...above(value, events - 0.5),
  growsWithTime: true,
});

/** The PromQL of an alert. */
export function expressionOf({ when }: Pick<Alert, 'when'>): string {
  const alternatives = when.map((all) => {
    const joint = all.map(({ value, operator, threshold }) => `${grouped(value)} ${operator} ${threshold}`);
    return joint.join(' and ');
  });
  return alternatives.length === 1 ? String(alternatives[0]) : alternatives.map((one) => `(${one})`).join(' or ');
}

/** Set operators bind more loosely than comparisons. */
const grouped = (value: string): string => (/\b(or|and|unless)\b/.test(value) ? `(${value})` : value);
