import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';

const DEFAULT_TOP = 20;
const OTHER = 'other';

export interface TopGaugeOptions {
  name: string;
  help: string;
  /** The label that carries the key. */
  label: string;
  /** How many keys get a series of their own; the rest are added up as `other`. */
  top?: number;
  /** Read at every scrape. Each key comes once. */
  read(): Iterable<readonly [key: string, value: number]>;
}

/** A gauge by account, or whatever else has no bound: the keys with the highest values, and all others as one. */
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
