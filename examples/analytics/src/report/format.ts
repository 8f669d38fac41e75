/** `1,234` */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** `97.5 %`, or a dash where there is nothing to divide. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** A DECIMAL as DuckDB writes it, without a way through a float: `1234.5000` → `1,234.50`. */
export function formatAmount(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.replace(/0{1,2}$/, '').padEnd(2, '0')}`;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** `340 ms`, `1.2 s`, `3.5 min`, `2.0 h` */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  return ms < HOUR_MS ? `${(ms / MINUTE_MS).toFixed(1)} min` : `${(ms / HOUR_MS).toFixed(1)} h`;
}

/** `22 Nov 14:00` of `2026-11-22 14:00:00`, in UTC as it is. */
export function formatHour(timestamp: string): string {
  return `${formatDay(timestamp)} ${timestamp.slice(11, 16)}`;
}

/** `22 Nov` */
export function formatDay(timestamp: string): string {
  const date = new Date(`${timestamp.slice(0, 10)}T00:00:00Z`);
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
