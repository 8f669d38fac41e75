import type { Category, Series } from './charts';
import { barChart, columnChart } from './charts';
import type { Completeness } from './completeness';
import { completenessDetails, completenessLine } from './completeness';
import type { Figures, Outcomes } from './figures';
import { formatAmount, formatCount, formatDay, formatDuration, formatHour, formatShare } from './format';
import { html, Markup } from './markup';
import { STYLE } from './style';

const OUTCOMES = [
  { name: 'Approved', colour: 'approved' },
  { name: 'Declined', colour: 'declined' },
  { name: 'Error', colour: 'failed' },
  { name: 'Open', colour: 'open' },
] as const satisfies readonly Series[];
const UNKNOWN_ENDS = [
  { name: 'Had happened', colour: 'approved' },
  { name: 'Had not happened', colour: 'failed' },
  { name: 'Not known yet', colour: 'open' },
] as const satisfies readonly Series[];

/** Of charts that have a row for themselves, or share it. */
const WIDE = 1_080;
const HALF = 510;

const valuesOf = ({ approved, declined, failed, open }: Outcomes): number[] => [approved, declined, failed, open];
const ended = ({ approved, declined, failed }: Outcomes): number => approved + declined + failed;
const rate = (outcomes: Outcomes): string => formatShare(outcomes.approved, ended(outcomes));

/** The report as one HTML file that loads nothing. */
export function renderReport(figures: Figures, completeness: Completeness): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>Payments report</title>
        <style>
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        <main>
          ${head(completeness)} ${tiles(figures)} ${byHour(figures)}
          <div class="pair">${byBrand(figures)}${byCode(figures)}</div>
          ${volumes(figures)}
          <div class="pair">${callbackTimes(figures)}${unknownOutcomes(figures)}</div>
          ${payouts(figures)}
          <footer>
            All times in UTC. Amounts are exact decimals. Payments are AUTH, SALE and SALE3D, by the hour in which they
            were accepted.
          </footer>
        </main>
      </body>
    </html> `.text;
}

function head(completeness: Completeness): Markup {
  const { gaps, duplicates, holes, unreadable } = completeness;
  const isGood = [gaps, duplicates, holes, unreadable].every(({ count }) => count === 0);
  const details = completenessDetails(completeness);
  const line = completenessLine(completeness);
  return html`<header>
    <h1>Payments report</h1>
    <p class="status ${isGood ? 'good' : 'bad'}">
      ${isGood ? '✓' : '!'} ${line.charAt(0).toUpperCase()}${line.slice(1)}
    </p>
    ${
      details.length === 0
        ? html``
        : html`<ul class="findings">
            ${details.map((detail) => html`<li>${detail}</li>`)}
          </ul>`
    }
  </header>`;
}

function tiles({ total, callbacks, payouts, unknown }: Figures): Markup {
  const unresolved = unknown.reduce((sum, { open }) => sum + open, 0);
  const settled = payouts.reduce((sum, one) => sum + one.settled, 0);
  const tile = (value: string, what: string): Markup =>
    html`<div class="tile"><strong>${value}</strong><span class="sub">${what}</span></div>`;
  return html`<div class="tiles">
    ${tile(formatCount(ended(total) + total.open), 'card payments')}
    ${tile(rate(total), 'of those that ended are approved')} ${tile(formatCount(settled), 'payouts settled')}
    ${tile(callbacks.medianMs === null ? '–' : formatDuration(callbacks.medianMs), 'median time to callback')}
    ${tile(formatCount(unresolved), 'outcomes not known yet')}
  </div>`;
}

function byHour({ hours }: Figures): Markup {
  const categories = hourAxis(hours.map(({ hour }) => hour)).map((axis, index) => {
    const outcomes = hours[index] ?? { approved: 0, declined: 0, failed: 0, open: 0 };
    return { ...axis, title: `${axis.title}, ${rate(outcomes)} approved`, values: valuesOf(outcomes) };
  });
  return section('Payments by hour', 'The last two days at most', [
    legend(OUTCOMES),
    columnChart({ summary: 'Card payments by hour and outcome', series: OUTCOMES, categories, width: WIDE }),
    numbers(
      ['Hour', ...names(OUTCOMES), 'Approval rate'],
      hours
        .filter((one) => ended(one) + one.open > 0)
        .map((one) => [formatHour(one.hour), ...valuesOf(one).map(formatCount), rate(one)]),
    ),
  ]);
}

function byBrand({ brands }: Figures): Markup {
  const categories = brands.map((one) => ({
    label: one.brand,
    title: one.brand,
    values: valuesOf(one),
    note: `${rate(one)} of ${formatCount(ended(one))}`,
  }));
  return section('Approvals by brand', 'Share of the payments that ended', [
    legend(OUTCOMES),
    orNone(categories, () =>
      barChart({ summary: 'Card payments by brand and outcome', series: OUTCOMES, categories, width: HALF }),
    ),
  ]);
}

function byCode({ codes }: Figures): Markup {
  const series = [{ name: 'Payments', colour: 'declined' }];
  const categories = codes.map(({ code, message, operations }) => ({
    label: `${code} ${message}`,
    title: `${code} ${message}`,
    values: [operations],
    note: formatCount(operations),
  }));
  return section('Declines and errors by code', 'The most frequent ones', [
    orNone(categories, () =>
      barChart({ summary: 'Declined and failed payments by code', series, categories, width: HALF }),
    ),
  ]);
}

function volumes({ volumes }: Figures): Markup {
  return section('Card volume', 'Approved amounts, by currency', [
    orNone(volumes, () =>
      table(
        ['Currency', 'Charged', 'Authorized', 'Settled', 'Refunded'],
        volumes.map(({ currency, ...amounts }) => [
          currency,
          ...[amounts.charged, amounts.authorized, amounts.settled, amounts.refunded].map(formatAmount),
        ]),
      ),
    ),
  ]);
}

function callbackTimes({ callbackTimes, callbacks }: Figures): Markup {
  const { delivered, trying, exhausted, medianMs, p95Ms } = callbacks;
  const longest = callbackTimes.at(-2)?.limitMs ?? 0;
  const categories = callbackTimes.map(({ limitMs, callbacks: count }) => {
    const limit = shortDuration(limitMs ?? longest);
    return limitMs === null
      ? { label: `≥ ${limit}`, title: `${limit} or longer`, values: [count] }
      : { label: limit, title: `Less than ${limit}`, values: [count] };
  });
  const quantiles =
    medianMs === null || p95Ms === null
      ? 'None is delivered yet'
      : `Median ${formatDuration(medianMs)}, 95 % within ${formatDuration(p95Ms)}`;
  return section('Time to callback', 'From the outcome until the merchant acknowledged it: less than …', [
    columnChart({
      summary: 'Delivered callbacks by the time that they took',
      series: [{ name: 'Callbacks', colour: 'approved' }],
      categories,
      width: HALF,
    }),
    html`<p class="sub">
      ${quantiles}. ${formatCount(delivered)} delivered, ${formatCount(trying)} still trying, ${formatCount(exhausted)}
      given up.
    </p>`,
  ]);
}

function unknownOutcomes({ unknown }: Figures): Markup {
  const categories = unknown.map(({ kind, code, done, notDone, open, longestMs }) => ({
    label: `${kind === 'card' ? 'Card' : 'Payout'}, ${code}`,
    title: `${kind} ${code}`,
    values: [done, notDone, open],
    note: longestMs === null ? 'open' : `up to ${formatDuration(longestMs)}`,
  }));
  return section('Unknown outcomes, and how they ended', 'By the first answer; longest time until it was known', [
    legend(UNKNOWN_ENDS),
    orNone(categories, () =>
      barChart({ summary: 'Unknown outcomes by code', series: UNKNOWN_ENDS, categories, width: HALF }),
    ),
  ]);
}

function payouts({ payouts, payoutHours }: Figures): Markup {
  const currencies = [...new Set(payoutHours.map(({ currency }) => currency))];
  const charts = currencies.map((currency) => {
    const own = payoutHours.filter((one) => one.currency === currency);
    // Only heights of columns: the table has the exact sums.
    const categories = hourAxis(own.map(({ hour }) => hour)).map((axis, index) => ({
      ...axis,
      values: [Number(own[index]?.volume ?? 0)],
    }));
    const series = [{ name: `Settled, ${currency}`, colour: 'approved' }];
    return html`<div>
      ${legend(series)}${columnChart({ summary: `Settled payouts by hour, ${currency}`, series, categories, width: WIDE, format: formatCount })}
    </div>`;
  });
  return section('Payout volume', 'Settled payouts by hour; fees are not part of the volume', [
    ...charts,
    orNone(payouts, () =>
      table(
        ['Currency', 'Settled', 'Volume', 'Fees', 'Not paid', 'Open', 'Came back'],
        payouts.map(({ currency, settled, volume, fees, refusedByBank, open, returned }) => [
          currency,
          formatCount(settled),
          formatAmount(volume),
          formatAmount(fees),
          ...[refusedByBank, open, returned].map(formatCount),
        ]),
      ),
    ),
  ]);
}

const LABELLED_HOURS = 8;

/** Labels at round hours, and the date at midnight. */
function hourAxis(hours: readonly string[]): Pick<Category, 'label' | 'title'>[] {
  const every = [1, 2, 3, 6].find((step) => hours.length / step <= LABELLED_HOURS) ?? 6;
  return hours.map((hour) => {
    const number = Number(hour.slice(11, 13));
    const label = number === 0 ? formatDay(hour) : hour.slice(11, 16);
    return { label: number % every === 0 ? label : '', title: formatHour(hour) };
  });
}

function shortDuration(ms: number): string {
  return formatDuration(ms).replace('.0', '');
}

function section(title: string, explanation: string, content: readonly Markup[]): Markup {
  return html`<section>
    <h2>${title}</h2>
    <p class="sub">${explanation}</p>
    ${content}
  </section>`;
}

function legend(series: readonly Series[]): Markup {
  const items = series.map(({ name, colour }) => html`<li><i style="background: var(--${colour})"></i>${name}</li>`);
  return html`<ul class="legend">
    ${items}
  </ul>`;
}

function orNone(of: readonly unknown[], content: () => Markup): Markup {
  return of.length === 0 ? html`<p class="none">None</p>` : content();
}

function names(series: readonly Series[]): string[] {
  return series.map(({ name }) => name);
}

function numbers(columns: readonly string[], rows: readonly (readonly string[])[]): Markup {
  return html`<details>
    <summary>Numbers</summary>
    ${table(columns, rows)}
  </details>`;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): Markup {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  );
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}
