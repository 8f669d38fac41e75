import type { Alert, Comparison } from './alert';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A rate needs two samples, and a scrape may be late. */
const WINDOW_MIN_MS = 6_000;

/** Shortens all times, so that a test need not wait for hours. Scrapes must then be a second apart. */
export interface Scale {
  /** 60 makes a minute a second. */
  readonly timesFaster: number;
}

export const REAL_TIME: Scale = { timesFaster: 1 };

/** PromQL with shorter windows. */
export function scaledExpression(expression: string, { timesFaster }: Scale): string {
  if (timesFaster === 1) return expression;
  return expression.replaceAll(/\[(\d+)([smhd])\]/g, (_window, count: string, unit: string) => {
    const ms = (Number(count) * (UNIT_MS[unit] ?? 0)) / timesFaster;
    return `[${Math.max(WINDOW_MIN_MS, Math.round(ms))}ms]`;
  });
}

export function scaledAlert(alert: Alert, scale: Scale): Alert {
  const comparison = (one: Comparison): Comparison => ({
    ...one,
    value: scaledExpression(one.value, scale),
    threshold: one.growsWithTime ? one.threshold / scale.timesFaster : one.threshold,
  });
  return {
    ...alert,
    forMinutes: alert.forMinutes / scale.timesFaster,
    when: alert.when.map((all) => all.map(comparison)),
  };
}
