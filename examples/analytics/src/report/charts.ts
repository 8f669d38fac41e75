import { formatCount } from './format';
import type { Markup } from './markup';
import { html } from './markup';

/** A kind of thing that is counted. `colour` names a custom property of the page's style. */
export interface Series {
  readonly name: string;
  readonly colour: string;
}

/** A column or a bar: a value for each series. */
export interface Category {
  /** At the axis; empty for none. */
  readonly label: string;
  /** For the tooltip. */
  readonly title: string;
  readonly values: readonly number[];
  /** At the end of a bar. */
  readonly note?: string;
}

export interface Chart {
  /** Says what the chart shows, to those who cannot see it. */
  readonly summary: string;
  readonly series: readonly Series[];
  readonly categories: readonly Category[];
  /** In pixels, where there is room for it. */
  readonly width: number;
  /** Of a value, in tooltips and at the axis. */
  readonly format?: (value: number) => string;
}

const COLUMNS = { height: 240, left: 48, right: 4, top: 12, bottom: 28, widest: 44, gap: 0.28 } as const;
const BARS = { row: 32, thick: 18, left: 206, right: 106, top: 4 } as const;
/** What has room before a bar. */
const LABEL_LENGTH = 24;
/** A narrower chart would be too small to read. */
const SCROLLS_BELOW = 480;
const GRID_LINES = 4;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Stacked columns over a time axis. */
export function columnChart({ summary, series, categories, width, format = formatCount }: Chart): Markup {
  const { height, left, right, top, bottom, widest, gap } = COLUMNS;
  const step = (width - left - right) / Math.max(1, categories.length);
  const thick = Math.min(widest, step * (1 - gap));
  const scale = roundScale(Math.max(0, ...categories.map(({ values }) => sum(values))));
  const yOf = (value: number): number => height - bottom - (value / scale.max) * (height - top - bottom);
  const columns = categories.map(({ label, title, values }, index) => {
    const x = left + step * (index + 0.5);
    const parts = stacked(values).map(({ from, to }, part) =>
      to === from
        ? html``
        : html`<rect
            x="${round(x - thick / 2)}"
            y="${round(yOf(to))}"
            width="${round(thick)}"
            height="${round(yOf(from) - yOf(to))}"
            fill="var(--${series[part]?.colour ?? 'ink'})"
          />`,
    );
    return html`<g>
      <title>${tooltip(title, series, values, format)}</title>
      <rect
        class="hit"
        x="${round(x - step / 2)}"
        y="${top}"
        width="${round(step)}"
        height="${height - top - bottom}"
      />
      ${parts}
      <text class="tick" x="${round(x)}" y="${height - 8}" text-anchor="middle">${label}</text>
    </g>`;
  });
  const grid = scale.ticks.map(
    (value) =>
      html`<line class="grid" x1="${left}" x2="${width - right}" y1="${round(yOf(value))}" y2="${round(yOf(value))}" />
        <text class="tick" x="${left - 8}" y="${round(yOf(value) + 4)}" text-anchor="end">${format(value)}</text>`,
  );
  return svg({ width, height, summary }, [...grid, ...columns]);
}

/** Stacked bars, one under another, each with its label before and its note behind it. */
export function barChart({ summary, series, categories, width, format = formatCount }: Chart): Markup {
  const { row, thick, left, right, top } = BARS;
  const most = Math.max(1, ...categories.map(({ values }) => sum(values)));
  const xOf = (value: number): number => left + (value / most) * (width - left - right);
  const bars = categories.map(({ label, title, values, note = '' }, index) => {
    const y = top + row * index;
    const middle = y + row / 2 + 4;
    const parts = stacked(values).map(({ from, to }, part) =>
      to === from
        ? html``
        : html`<rect
            x="${round(xOf(from))}"
            y="${y + (row - thick) / 2}"
            width="${round(xOf(to) - xOf(from))}"
            height="${thick}"
            fill="var(--${series[part]?.colour ?? 'ink'})"
          />`,
    );
    return html`<g>
      <title>${tooltip(title, series, values, format)}</title>
      <rect class="hit" x="0" y="${y}" width="${width}" height="${row}" />
      <text class="label" x="${left - 12}" y="${middle}" text-anchor="end">${shortened(label)}</text>
      ${parts}
      <text class="note" x="${round(xOf(sum(values)) + 10)}" y="${middle}">${note}</text>
    </g>`;
  });
  return svg({ width, height: top * 2 + row * categories.length, summary }, bars);
}

function svg(
  { width, height, summary }: { width: number; height: number; summary: string },
  content: readonly Markup[],
): Markup {
  return html`<div class="scroll">
    <svg
      viewBox="0 0 ${width} ${height}"
      style="min-width: ${Math.min(width, SCROLLS_BELOW)}px"
      role="img"
      aria-label="${summary}"
    >
      ${content}
    </svg>
  </div>`;
}

function stacked(values: readonly number[]): { from: number; to: number }[] {
  return values.map((value, index) => {
    const from = sum(values.slice(0, index));
    return { from, to: from + value };
  });
}

function tooltip(
  title: string,
  series: readonly Series[],
  values: readonly number[],
  format: (value: number) => string,
): string {
  const lines = series.map(({ name }, index) => `${name}: ${format(values[index] ?? 0)}`);
  return [title, ...lines].join('\n');
}

/** A round number at or above the highest value, and the lines up to it: never more than five. */
function roundScale(highest: number): { max: number; ticks: number[] } {
  const rough = Math.max(highest, 1) / GRID_LINES;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * magnitude >= rough) ?? 10;
  const step = Math.max(1, factor * magnitude);
  const lines = Math.max(1, Math.ceil(highest / step));
  return { max: lines * step, ticks: Array.from({ length: lines + 1 }, (_, index) => index * step) };
}

function shortened(label: string): string {
  return label.length > LABEL_LENGTH ? `${label.slice(0, LABEL_LENGTH - 1).trimEnd()}…` : label;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
