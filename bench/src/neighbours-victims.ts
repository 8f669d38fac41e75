import { once } from 'node:events';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Fields } from './load';
import { quantile } from './load';
import type { MerchantAccess } from './neighbours-requests';
import { checkOf, payoutOf, saleOf } from './neighbours-requests';

export interface Figures {
  /** Successful rounds per second. */
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  failed: number;
}

type Send = (path: string, fields: Fields) => Promise<Fields>;

/** One round of a victim's client. Throws if it is not served. */
export type Round = (send: Send) => Promise<void>;

export interface Window {
  baseUrl: string;
  round: Round;
  warmUpMs: number;
  measureMs: number;
}

/** Few enough to leave the machine idle at times, so that the victim's losses are not due to a lack of CPU. */
const CLIENTS = 4;
const ANSWER_TIMEOUT_MS = 35_000;
const OUTCOME_TIMEOUT_MS = 20_000;
const POLL_MS = 20;
const AFTER_FAILURE_MS = 50;

/** Closed loops. Rounds count if they end after the warm-up, and for the throughput only if they end in the window. */
export async function measureVictim({ baseUrl, round, warmUpMs, measureMs }: Window): Promise<Figures> {
  const timeouts = { bodyTimeout: ANSWER_TIMEOUT_MS, headersTimeout: ANSWER_TIMEOUT_MS };
  const pool = new Pool(baseUrl, { connections: CLIENTS, pipelining: 1, ...timeouts });
  const send: Send = async (path, fields) => {
    const headers = { 'content-type': 'application/json' };
    const { body } = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(fields) });
    return (await body.json()) as Fields;
  };
  const startAt = performance.now() + warmUpMs;
  const endAt = startAt + measureMs;
  const durationsMs: number[] = [];
  let ended = 0;
  let failed = 0;
  const client = async (): Promise<void> => {
    for (let begun = performance.now(); begun < endAt; begun = performance.now()) {
      try {
        await round(send);
        const now = performance.now();
        if (now >= startAt) durationsMs.push(now - begun);
        if (now >= startAt && now <= endAt) ended += 1;
      } catch {
        if (performance.now() >= startAt) failed += 1;
        await pause(AFTER_FAILURE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await pool.destroy();
  durationsMs.sort((a, b) => a - b);
  const [p50Ms, p99Ms] = [quantile(durationsMs, 0.5), quantile(durationsMs, 0.99)];
  return { perSecond: (ended * 1_000) / measureMs, p50Ms, p99Ms, failed };
}

export function sells(access: MerchantAccess): Round {
  return async (send) => void expectStatus(await send(...saleOf(access, '10.00')), 'success');
}

/** From the init until CHECK shows the payout as settled. */
export function paysOut(access: MerchantAccess): Round {
  return async (send) => {
    const [path, fields] = payoutOf(access, {});
    expectStatus(await send(path, fields), 'pending');
    const giveUpAt = performance.now() + OUTCOME_TIMEOUT_MS;
    while (performance.now() < giveUpAt) {
      await pause(POLL_MS);
      const { transactions } = await send(...checkOf(access, String(fields['transaction_unique_id'])));
      const [record] = (transactions ?? []) as { status: string }[];
      if (record?.status === 'SUCCESS') return;
    }
    throw new Error('a payout was not settled in time');
  };
}

/** From the init of a payout until its callback arrives. */
export function isTold(access: MerchantAccess, receiver: Receiver): Round {
  return async (send) => {
    const [path, fields] = payoutOf(access, { callback_url: receiver.url });
    const told = receiver.told(String(fields['transaction_unique_id']), OUTCOME_TIMEOUT_MS);
    expectStatus(await send(path, fields), 'pending');
    if (!(await told)) throw new Error('a callback did not come in time');
  };
}

function expectStatus(answer: Fields, status: string): void {
  if (answer['status'] !== status) throw new Error(`not ${status}: ${JSON.stringify(answer)}`);
}

/** The victim's server. */
export interface Receiver {
  url: string;
  /** True if the callback of that id arrives in time. */
  told(transactionUniqueId: string, timeoutMs: number): Promise<boolean>;
  close(): void;
}

export async function startReceiver(certificate: { key: string; cert: string }): Promise<Receiver> {
  const waiting = new Map<string, () => void>();
  const server: Server = createServer(certificate, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      response.end('OK');
      waiting.get(new URLSearchParams(Buffer.concat(chunks).toString()).get('transaction_unique_id') ?? '')?.();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    told: (id, timeoutMs) =>
      new Promise((resolve) => {
        const end = (came: boolean): void => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(came);
        };
        const timer = setTimeout(() => end(false), timeoutMs);
        waiting.set(id, () => end(true));
      }),
    close: () => server.close(),
  };
}
