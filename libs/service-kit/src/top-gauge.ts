import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';

const DEFAULT_TOP = 20;
const OTHER = 'other';

export interface TopGaugeOptions {
  name: string;
  help: string;
  /** The label that carries the key. */
  label: string;
  /** How many keys get their own series; `other` is the sum of the rest. */
  top?: number;
  /** Called at every scrape. Yields each key once. */
  read(): Iterable<readonly [key: string, value: number]>;
}

/** A gauge by account or another unbounded key: one series for each of the highest values, and one for the rest. */
export function createTopGauge(
  metrics: Registry,
  { name, help, label, top = DEFAULT_TOP, read }: TopGaugeOptions,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [metrics],
    collect() {
      this.reset();
      const sorted = [...read()].sort(([, a], [, b]) => b - a);
      for (const [key, value] of sorted.slice(0, top)) this.set({ [label]: key }, value);
      const rest = sorted.slice(top).reduce((sum, [, value]) => sum + value, 0);
      this.set({ [label]: OTHER }, rest);
    },
  });
}
