import { RESPONSE_CODES, responseCodes } from '@gateway/contracts';
import type { Alert, AlertCase, Comparison, Series, Severity } from './alert';
import { above, atLeast, growing, steady } from './alert';

/** The objectives hold over this time. */
export const SLO_DAYS = 30;

/** A service level objective. Its indicator is the share of events, or of time, that was bad. */
export interface Slo {
  /** Value of the label `slo`. */
  readonly name: string;
  /** Name of its alerts. */
  readonly alert: string;
  /** Share that must be good. */
  readonly objective: number;
  readonly promise: string;
  readonly summary: string;
  readonly indicator: EventIndicator | TimeIndicator;
  /** Series that use up the budget at 14.4 times the allowed rate or more, at 3 to 6 times, and at less than once. */
  readonly test: Readonly<Record<'fast' | 'slow' | 'kept', (minutes: number) => Series>> & {
    /** Further cases of the page. */
    readonly more?: readonly AlertCase[];
  };
}

/** Selectors of counters: of all events, and of the bad or the good ones. */
type EventIndicator = { readonly kind: 'events'; readonly total: string } & (
  { readonly bad: string } | { readonly good: string }
);

/** Bad is the time in which an age or a number is above a bound. */
interface TimeIndicator {
  readonly kind: 'time';
  readonly value: string;
  readonly bound: number;
}

/**
 * Codes with which we, and not the merchant or a bank, are the reason. An operation ends with PROCESSING_ERROR when its
 * command is dead-lettered, and when its CVV, the key of its CVV or its call to the directory server is lost.
 */
const OUR_FAULT = [
  ...responseCodes
    .filter(({ class: kind, outcomeUnknown }) => kind === 'service' && outcomeUnknown === true)
    .map(({ code }) => code),
  RESPONSE_CODES.PROCESSING_ERROR,
];

/** Anybody may ask for addresses that do not exist. */
const KNOWN_PATH = 'path!="other"';
const REQUESTS = `gateway_requests_total{${KNOWN_PATH}}`;
const FAILED = `gateway_requests_total{code=~"${OUR_FAULT.join('|')}",${KNOWN_PATH}}`;

const LATENCY_SECONDS = 2.5;
/**
 * Requests whose body did not arrive, or could not be read, may be anybody's. In XTS merchants choose how long a bank
 * takes.
 */
const COUNTED = 'operation!="none",test!="yes"';
const DURATIONS = `gateway_operation_seconds_count{${COUNTED}}`;
const IN_TIME = `gateway_operation_seconds_bucket{le="${LATENCY_SECONDS}",${COUNTED}}`;

/** With little traffic a single request may be a large share. Fewer bad requests than these make no alert. */
const BAD_REQUESTS_MIN = 10;

const CALLBACK_SECONDS = 60;
const UNKNOWN_OUTCOME_SECONDS = 900;
const OLDEST_UNKNOWN = 'gateway_unknown_outcome_oldest_seconds{service="payout"}';

/** Answers each minute, by code. */
const answers = (minutes: number, byCode: Readonly<Record<string, number>>): Series =>
  Object.fromEntries(
    Object.entries(byCode).map(([code, each]) => [`gateway_requests_total{code="${code}"}`, growing(each, minutes)]),
  );

/** Samples of requests of an operation, and of those that are fast enough. */
const durationsOf = (operation: string, all: string, inTime: string, test = 'no'): Series => ({
  [`gateway_operation_seconds_count{operation="${operation}",test="${test}"}`]: all,
  [`gateway_operation_seconds_bucket{le="${LATENCY_SECONDS}",operation="${operation}",test="${test}"}`]: inTime,
});

/** A hundred requests each minute, of which so many are fast enough. */
const durations = (minutes: number, inTime: number): Series =>
  durationsOf('SALE', growing(100, minutes), growing(inTime, minutes));

/** What burns fast also burns slowly. */
const BOTH: readonly Severity[] = ['page', 'ticket'];

/** A value in one of 50 minutes, else 0. */
const sometimes = (value: number, minutes: number): string =>
  Array.from({ length: Math.ceil(minutes / 50) }, () => `${value}+0x0 0+0x48`).join(' ');

export const slos: readonly Slo[] = [
  {
    name: 'api-availability',
    alert: 'ApiErrors',
    objective: 0.999,
    promise: `Merchants' requests are answered with an outcome, not with HTTP 503 or one of the codes ${OUR_FAULT.join(', ')}`,
    summary: 'Merchants get errors or no outcome, and the error budget of 30 days is running out.',
    indicator: { kind: 'events', total: REQUESTS, bad: FAILED },
    test: {
      fast: (minutes) => answers(minutes, { '0': 90, '11': 10 }),
      slow: (minutes) => answers(minutes, { '0': 9_000, '3101': 960, '11': 40 }),
      kept: (minutes) => answers(minutes, { '0': 9_000, '3101': 995, '11': 5 }),
      more: [
        {
          what: 'fires when operations end with a processing error',
          atMinute: 20,
          series: answers(30, { '0': 90, '3000': 10 }),
          fires: { labels: { slo: 'api-availability' }, severities: BOTH },
        },
        {
          what: 'fires however many strangers ask for other addresses',
          atMinute: 20,
          series: {
            ...answers(30, { '0': 90, '11': 10 }),
            'gateway_requests_total{path="other",code="1000"}': growing(10_000, 30),
          },
          fires: { labels: { slo: 'api-availability' }, severities: BOTH },
        },
        {
          what: 'is silent after one failure in an hour of little traffic',
          atMinute: 64,
          series: {
            'gateway_requests_total{code="0"}': growing(1, 90),
            'gateway_requests_total{code="11"}': '0+0x60 1+0x30',
          },
        },
      ],
    },
  },
  {
    name: 'api-latency',
    alert: 'ApiSlow',
    objective: 0.99,
    promise: `Merchants' requests are answered within ${LATENCY_SECONDS} s, the acquirer's time included`,
    summary: 'Merchants wait too long for answers, and the latency budget of 30 days is running out.',
    indicator: {
      kind: 'events',
      total: DURATIONS,
      good: IN_TIME,
    },
    test: {
      fast: (minutes) => durations(minutes, 70),
      slow: (minutes) => durations(minutes, 96),
      kept: (minutes) => durations(minutes, 99.5),
      more: [
        {
          what: 'is silent when strangers send bodies that never arrive',
          atMinute: 20,
          series: { ...durations(30, 99.5), ...durationsOf('none', growing(50, 30), steady(0, 30)) },
        },
        {
          what: 'is silent when merchants try slow banks in XTS',
          atMinute: 20,
          series: { ...durations(30, 99.5), ...durationsOf('SALE', growing(500, 30), steady(0, 30), 'yes') },
        },
        {
          what: 'is silent after one slow request in an hour of little traffic',
          atMinute: 64,
          series: durationsOf('SALE', '0+0x60 2+0x30', '0+0x60 1+0x30'),
        },
      ],
    },
  },
  {
    name: 'callback-age',
    alert: 'CallbacksLate',
    objective: 0.995,
    promise: `No callback that is due waits for more than ${CALLBACK_SECONDS} s for its attempt`,
    summary: 'Callbacks that are due are not attempted in time.',
    indicator: { kind: 'time', value: 'max(callback_overdue)', bound: 0 },
    test: {
      fast: (minutes) => ({ callback_overdue: steady(3, minutes) }),
      slow: (minutes) => ({ callback_overdue: sometimes(3, minutes) }),
      kept: (minutes) => ({ callback_overdue: steady(0, minutes) }),
    },
  },
  {
    name: 'unknown-outcome-age',
    alert: 'OutcomesLate',
    objective: 0.995,
    promise: `No outcome stays unknown for more than ${UNKNOWN_OUTCOME_SECONDS / 60} minutes`,
    summary: 'Outcomes of payments or payouts stay unknown for too long.',
    indicator: {
      kind: 'time',
      value: 'max(gateway_unknown_outcome_oldest_seconds)',
      bound: UNKNOWN_OUTCOME_SECONDS,
    },
    test: {
      fast: (minutes) => ({ [OLDEST_UNKNOWN]: `1000+60x${minutes}` }),
      slow: (minutes) => ({ [OLDEST_UNKNOWN]: sometimes(1_000, minutes) }),
      kept: (minutes) => ({ [OLDEST_UNKNOWN]: steady(UNKNOWN_OUTCOME_SECONDS - 1, minutes) }),
    },
  },
];

/**
 * Windows and burn rates as in the Site Reliability Workbook, chapter 5: at a rate of 14.4 an hour uses 2 % of the budget
 * of 30 days, at 6 six hours use 5 %, at 1 three days use 10 %. The short window ends an alert soon after its cause.
 */
const BURNS: readonly {
  severity: Severity;
  pairs: readonly (readonly [long: string, short: string, rate: number])[];
}[] = [
  {
    severity: 'page',
    pairs: [
      ['1h', '5m', 14.4],
      ['6h', '30m', 6],
    ],
  },
  {
    severity: 'ticket',
    pairs: [
      ['1d', '2h', 3],
      ['3d', '6h', 1],
    ],
  },
];

const WINDOWS = [...new Set(BURNS.flatMap(({ pairs }) => pairs.flatMap(([long, short]) => [short, long])))];
const LONG_WINDOWS = BURNS.flatMap(({ pairs }) => pairs.map(([long]) => long));

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

const BAD_TIME = 'slo:bad_time:bool';
const burnRate = (window: string): string => `slo:burn_rate:${window}`;
const badEvents = (window: string): string => `slo:bad_events:${window}`;

/** How many times faster than allowed each objective uses its budget, for each window, and how many events were bad. */
export function sloRules(): RecordingRule[] {
  return slos.flatMap((slo) => {
    const labels = { slo: slo.name };
    const { indicator } = slo;
    const rates = WINDOWS.map((window) => ({
      record: burnRate(window),
      expr: `(${badShare(slo, window)}) / ${allowed(slo)}`,
      labels,
    }));
    if (indicator.kind === 'events') {
      const counts = LONG_WINDOWS.map((window) => ({
        record: badEvents(window),
        expr: badCount(indicator, window),
        labels,
      }));
      return [...rates, ...counts];
    }
    return [{ record: BAD_TIME, expr: `${indicator.value} > bool ${indicator.bound}`, labels }, ...rates];
  });
}

function badShare({ name, indicator }: Slo, window: string): string {
  if (indicator.kind === 'time') return `avg_over_time(${BAD_TIME}{slo="${name}"}[${window}])`;
  const all = `sum(rate(${indicator.total}[${window}]))`;
  if ('good' in indicator) return `1 - sum(rate(${indicator.good}[${window}])) / ${all}`;
  // A code that nobody has got yet has no series.
  return `(sum(rate(${indicator.bad}[${window}])) or vector(0)) / ${all}`;
}

function badCount(indicator: EventIndicator, window: string): string {
  const increase = (selector: string): string => `sum(increase(${selector}[${window}]))`;
  if ('good' in indicator) return `${increase(indicator.total)} - ${increase(indicator.good)}`;
  return `${increase(indicator.bad)} or vector(0)`;
}

/** Without the noise of binary fractions. */
const allowed = ({ objective }: Slo): number => Number((1 - objective).toFixed(6));

/** Two alerts for each objective: one that burns fast pages, one that burns slowly makes a ticket. */
export function sloAlerts(): Alert[] {
  return slos.flatMap((slo) => BURNS.map(({ severity, pairs }) => burnAlert(slo, severity, pairs)));
}

function burnAlert(slo: Slo, severity: Severity, pairs: (typeof BURNS)[number]['pairs']): Alert {
  const selector = `{slo="${slo.name}"}`;
  const compare = (window: string, rate: number): Comparison => above(`${burnRate(window)}${selector}`, rate);
  const enough = (window: string): Comparison[] =>
    slo.indicator.kind === 'events' ? [atLeast(BAD_REQUESTS_MIN, `${badEvents(window)}${selector}`)] : [];
  const isPage = severity === 'page';
  const minutes = isPage ? 90 : 260;
  return {
    name: slo.alert,
    severity,
    when: pairs.map(([long, short, rate]) => [compare(long, rate), compare(short, rate), ...enough(long)]),
    forMinutes: 2,
    summary: slo.summary,
    test: {
      atMinute: minutes,
      fires: {
        series: isPage ? slo.test.fast(minutes) : slo.test.slow(minutes),
        labels: { slo: slo.name },
        ...(isPage && { severities: BOTH }),
      },
      silent: slo.test.kept(minutes),
      ...(isPage && slo.test.more !== undefined && { more: slo.test.more }),
    },
  };
}
