import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../random';
import type { BankCall } from '../model/evidence';

/**
 * - `slow`: answers after 1 to 6 s, sometimes past the caller's time-out. It acts before or after the delay.
 * - `silent`: never answers, but executes half of the requests.
 * - `lying`: executes requests, but answers garbage, faults, "unknown", or "not found" for known ones.
 * - `dead`: refuses connections.
 */
export type Manner = 'honest' | 'slow' | 'silent' | 'lying' | 'dead';

/** A proxy before a bank, which makes it misbehave and records its requests. */
export interface Counterpart {
  readonly url: string;
  readonly calls: readonly BankCall[];
  behave(manner: Manner): Promise<void>;
  close(): Promise<void>;
}

const SLOW_MIN_MS = 1_000;
const SLOW_MAX_MS = 6_000;
const UPSTREAM_TIMEOUT_MS = 30_000;

const OPERATIONS = /^\/(acquirer\/v1\/operations|bank\/v1\/payouts)(?:\/([^/?]+)(\/cancel)?)?$/;

interface Received {
  request: IncomingMessage;
  body: Buffer;
}

export async function startCounterpart(
  bank: BankCall['bank'],
  options: { target: string; random: Random; now: () => number },
): Promise<Counterpart> {
  const { random, now } = options;
  const calls: BankCall[] = [];
  const agent = new Agent({ keepAlive: true });
  let manner: Manner = 'honest';
  let server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const call = readCall(bank, request, now());
    if (call !== undefined) {
      calls.push(call);
      response.once('close', () => (call.endedAt = now()));
    }
    void bodyOf(request).then((body) => handle({ request, body }, response, call));
  }

  async function handle(received: Received, response: ServerResponse, call: BankCall | undefined): Promise<void> {
    switch (manner) {
      case 'honest':
      case 'dead':
        return answer(response, await forward(received));
      case 'slow':
        if (random.chance(0.5)) return later(async () => answer(response, await forward(received)));
        return forward(received).then((reply) => later(() => answer(response, reply)));
      case 'silent':
        if (random.chance(0.5)) await forward(received);
        return undefined;
      case 'lying':
        return answer(response, lieAbout(await forward(received), call, random));
    }
  }

  function later(work: () => Promise<void> | void): void {
    setTimeout(() => void work(), random.int(SLOW_MIN_MS, SLOW_MAX_MS));
  }

  function forward({ request, body }: Received): Promise<Told | undefined> {
    return new Promise((resolve) => {
      const { method, headers, url } = request;
      const upstream = httpRequest(`${options.target}${url}`, { method, headers, agent, timeout: UPSTREAM_TIMEOUT_MS });
      upstream.once('error', () => resolve(undefined));
      upstream.once('timeout', () => upstream.destroy());
      upstream.once('response', (reply) => {
        bodyOf(reply).then(
          (text) => resolve({ status: reply.statusCode ?? 502, body: text }),
          () => resolve(undefined),
        );
      });
      upstream.end(body);
    });
  }

  async function stopListening(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async behave(next) {
      if (next === 'dead' && manner !== 'dead') await stopListening();
      if (next !== 'dead' && manner === 'dead') {
        server = createServer(listener);
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      }
      manner = next;
    },
    async close() {
      if (manner !== 'dead') await stopListening();
      agent.destroy();
    },
  };
}

interface Told {
  status: number;
  body: Buffer;
}

/** Passes the bank's own connection faults (silence, an abrupt end) on to the caller. */
function answer(response: ServerResponse, reply: Told | undefined): void {
  if (reply === undefined) return void response.destroy();
  response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': reply.body.length });
  response.end(reply.body);
}

/** Never lies about cancellations, because a confirmed "not found" is final. */
function lieAbout(reply: Told | undefined, call: BankCall | undefined, random: Random): Told | undefined {
  if (call === undefined || call.kind === 'cancel') return reply;
  const lies: Told[] = [
    { status: 200, body: Buffer.from('<html>Good morning</html>') },
    { status: 200, body: Buffer.from('{"result":"unknown","status":"unknown"}') },
    { status: 500, body: Buffer.from('{"error":"out of order"}') },
    { status: 200, body: Buffer.from('{"result":"perhaps"}') },
  ];
  const notFound = call.bank === 'acquirer' ? 'not_found' : 'not-found';
  if (call.kind === 'inquiry') lies.push({ status: 200, body: Buffer.from(JSON.stringify({ status: notFound })) });
  return random.pick(lies);
}

function readCall(bank: BankCall['bank'], request: IncomingMessage, at: number): BankCall | undefined {
  const [, , key, cancel] = OPERATIONS.exec(request.url ?? '') ?? [];
  if (key !== undefined) return { bank, kind: cancel === undefined ? 'inquiry' : 'cancel', key, at };
  const header = request.headers['idempotency-key'];
  return typeof header === 'string' ? { bank, kind: 'call', key: header, at } : undefined;
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
