import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { quantile } from './load';
import type { Fields } from './load';

export interface Offered {
  perSecond: { offered: number; succeeded: number };
  /** Of successful requests. */
  p50Ms: number;
  p99Ms: number;
  /** Count by HTTP status (with the code for unsuccessful 200s) or error. */
  others: Map<string, number>;
  /** Requests not sent, because `maxInFlight` were unanswered. */
  unsent: number;
  /** From the last request to the last answer. */
  drainMs: number;
}

const TICK_MS = 5;
const REQUEST_TIMEOUT_MS = 40_000;

/**
 * Sends requests at a fixed rate without waiting for answers, like many independent merchants. `maxInFlight` bounds the
 * unanswered ones.
 */
export async function offer(options: {
  baseUrl: string;
  perSecond: number;
  forMs: number;
  maxInFlight: number;
  next: () => { path: string; fields: Fields };
}): Promise<Offered> {
  const { baseUrl, perSecond, forMs, maxInFlight, next } = options;
  const timeouts = { bodyTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const pool = new Pool(baseUrl, { connections: maxInFlight, pipelining: 1, ...timeouts });
  const durationsMs: number[] = [];
  const others = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  const begunAt = performance.now();
  let due = 0;
  let unsent = 0;

  const one = async (): Promise<void> => {
    const sentAt = performance.now();
    const outcome = await outcomeOf(pool, next());
    if (outcome === undefined) durationsMs.push(performance.now() - sentAt);
    else others.set(outcome, (others.get(outcome) ?? 0) + 1);
  };
  for (let elapsedMs = 0; elapsedMs < forMs; elapsedMs = performance.now() - begunAt) {
    for (; due < (elapsedMs * perSecond) / 1_000; due += 1) {
      if (inFlight.size >= maxInFlight) {
        unsent += 1;
        continue;
      }
      const request: Promise<void> = one().finally(() => inFlight.delete(request));
      inFlight.add(request);
    }
    await pause(TICK_MS);
  }
  const offeredAt = performance.now();
  await Promise.all(inFlight);
  const answeredAt = performance.now();
  await pool.close();
  const seconds = (answeredAt - begunAt) / 1_000;
  durationsMs.sort((a, b) => a - b);
  return {
    perSecond: { offered: due / (forMs / 1_000), succeeded: durationsMs.length / seconds },
    p50Ms: quantile(durationsMs, 0.5),
    p99Ms: quantile(durationsMs, 0.99),
    others,
    unsent,
    drainMs: answeredAt - offeredAt,
  };
}

/** Undefined for a success. */
async function outcomeOf(pool: Pool, { path, fields }: { path: string; fields: Fields }): Promise<string | undefined> {
  try {
    const { statusCode, body } = await pool.request({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const answer = (await body.json()) as Fields;
    if (statusCode === 200 && answer['status'] === 'success') return undefined;
    return statusCode === 200 ? `200 code ${String(answer['code'])}` : String(statusCode);
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
