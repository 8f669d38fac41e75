import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '@gateway/service-kit';

export interface Submission {
  key: string;
  body: Record<string, unknown>;
}

type Outcome = Record<string, unknown>;

/** The part of the sandbox bank's API that payouts need, over real HTTP. Its records show which payouts were paid. */
export interface Bank {
  url: string;
  /** Every submission that arrived, including repeated ones. */
  submissions: Submission[];
  /** The payouts that the bank has carried out or turned down, by key. */
  outcomes: Map<string, Outcome>;
  /** Keys of the inquiries. */
  inquiries: string[];
  acknowledged: string[];
  submissionsOf(key: string): number;
  return(key: string, reasonCode: string): void;
  close(): Promise<void>;
}

const FACTS = { id: '77', name: 'Sandbox Bank', advice: 'none', reasonCode: 'ACSC', reasonDescription: 'Settled' };

const FORCED = [
  { kind: 'declined', from: 3100 },
  { kind: 'frauded', from: 3200 },
  { kind: 'failed', from: 3300 },
];
const MISBEHAVING = [3109, 3117, 3118, 3124, 3125, 3133];

function outcomeFor(key: string, amount: unknown): Outcome {
  const code = Math.round(Number(amount) * 100);
  const forced = FORCED.find(({ from }) => code >= from && code < from + 100);
  return forced === undefined || MISBEHAVING.includes(code)
    ? { kind: 'settled', transactionId: `T-${key}`, bank: FACTS }
    : { kind: forced.kind, code, reason: 'forced', bank: FACTS };
}

export async function startBank(): Promise<Bank> {
  const submissions: Submission[] = [];
  const outcomes = new Map<string, Outcome>();
  const cancelled = new Set<string>();
  const inquiries: string[] = [];
  const returns = new Map<string, string>();
  const acknowledged: string[] = [];
  const amountOf = (key: string): unknown => submissions.find((one) => one.key === key)?.body['amount'];
  const timesAsked = (key: string): number => inquiries.filter((one) => one === key).length;

  function commit(key: string): Outcome {
    const outcome = outcomes.get(key) ?? outcomeFor(key, amountOf(key));
    outcomes.set(key, outcome);
    return outcome;
  }

  function submit(
    key: string,
    body: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    submissions.push({ key, body });
    if (cancelled.has(key)) return answer(response, 409, {});
    const { amount } = body;
    if (amount === '31.18') return void request.socket.destroy();
    if (amount === '31.25') return answer(response, 500, {});
    if (amount === '31.33') return;
    const { kind, ...rest } = commit(key);
    if (amount === '31.09') return;
    if (amount === '31.17') return void response.end('<html>');
    answer(response, 200, amount === '31.24' ? { result: 'unknown' } : { result: kind, ...rest });
  }

  function statusOf(key: string): Outcome {
    const outcome = outcomes.get(key);
    if (outcome === undefined) return { status: cancelled.has(key) ? 'cancelled' : 'not-found' };
    const { kind, ...rest } = outcome;
    return { status: kind, ...rest };
  }

  function inquire(key: string): Outcome {
    inquiries.push(key);
    if (amountOf(key) === '31.24' && timesAsked(key) <= 2) return { status: 'unknown' };
    const status = statusOf(key);
    if (amountOf(key) === '31.33') commit(key);
    return status;
  }

  const { port, close } = await listen({
    port: 0,
    host: '127.0.0.1',
    listener: (request, response) => {
      void readBody(request).then((body) => {
        const [, , , resource, key = '', action] = (request.url ?? '').split(/[/?]/);
        if (resource === 'payouts' && request.method === 'POST' && action === undefined) {
          return submit(String(request.headers['idempotency-key']), body, request, response);
        }
        if (resource === 'payouts' && request.method === 'GET') return answer(response, 200, inquire(key));
        if (resource === 'payouts' && action === 'cancel') {
          if (!outcomes.has(key)) cancelled.add(key);
          return answer(response, 200, statusOf(key));
        }
        if (resource === 'returns' && request.method === 'GET') {
          const waiting = [...returns].map(([reference, reasonCode]) => ({ reference, reasonCode, at: Date.now() }));
          return answer(response, 200, { returns: waiting });
        }
        returns.delete(key);
        acknowledged.push(key);
        response.writeHead(204).end();
      });
    },
  });
  return {
    url: `http://127.0.0.1:${port}`,
    submissions,
    outcomes,
    inquiries,
    acknowledged,
    submissionsOf: (key) => submissions.filter((one) => one.key === key).length,
    return: (key, reasonCode) => void returns.set(key, reasonCode),
    close: () => close(0),
  };
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function answer(response: ServerResponse, status: number, body: Outcome): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
