import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { payoutOf, saleOf } from './neighbours-requests';
import type { MerchantAccess } from './neighbours-requests';
import type { Fields } from './load';

/** Arguments of an attacker's process. */
export interface AttackOrder {
  attack: AttackName;
  baseUrl: string;
  access: MerchantAccess;
  /** Shorter ramps. */
  quick: boolean;
}

export interface AttackControl {
  /** Call it when the attack is at full strength. */
  ready(): void;
  isStopped(): boolean;
  /** Counts an answer; `kind` is from a small set. */
  count(kind: string): void;
}

type Attack = (order: AttackOrder, control: AttackControl) => Promise<void>;

/** The attackers' own address, so that limits per source do not affect the victim. */
const SOURCE = '127.0.0.2';
const ANSWER_TIMEOUT_MS = 40_000;
const RETRY_MS = 100;

/** The proxy before the simulator delays this amount, and the simulator approves it. The proxy sees it without trailing zeros. */
export const SLOW_AMOUNT = '41.41';
/** The simulator executes this amount and never answers. */
const UNANSWERED_AMOUNT = '31.09';

export const attacks = {
  'slow-acquirer': saleLoop({ clients: 256, amount: () => SLOW_AMOUNT, rampMs: 4_000 }),
  'unanswered-cards': saleLoop({
    clients: 400,
    amount: () => (Math.random() < 0.7 ? UNANSWERED_AMOUNT : '10.00'),
    rampMs: 6_000,
  }),
  'unanswered-payouts': unansweredPayouts,
  'slow-bodies': slowBodies,
  'hanging-callbacks': hangingCallbacks,
  'password-guessing': passwordGuessing,
  'rate-limit': saleLoop({ clients: 64, amount: () => '10.00', rampMs: 1_000 }),
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

interface Client {
  post(path: string, fields: Fields): Promise<Fields>;
  close(): Promise<void>;
}

function clientFrom(localAddress: string, baseUrl: string, connections: number): Client {
  const timeouts = { bodyTimeout: ANSWER_TIMEOUT_MS, headersTimeout: ANSWER_TIMEOUT_MS };
  const pool = new Pool(baseUrl, { connections, pipelining: 1, localAddress, ...timeouts });
  return {
    async post(path, fields) {
      const headers = { 'content-type': 'application/json' };
      const { body } = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(fields) });
      return (await body.json()) as Fields;
    },
    close: () => pool.destroy(),
  };
}

/** Runs concurrent closed loops until the end. Counts errors and pauses after each. */
async function loop(control: AttackControl, clients: number, round: (index: number) => Promise<Fields>): Promise<void> {
  const one = async (_value: unknown, index: number): Promise<void> => {
    while (!control.isStopped()) {
      try {
        const { status, code } = (await round(index)) as { status?: string; code?: number };
        control.count(`${status ?? 'no status'} ${code ?? ''}`.trim());
        if (status === 'error') await pause(RETRY_MS);
      } catch {
        control.count('no answer');
        await pause(RETRY_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

function saleLoop(options: { clients: number; amount: () => string; rampMs: number }): Attack {
  return async ({ baseUrl, access }, control) => {
    const client = clientFrom(SOURCE, baseUrl, options.clients);
    setTimeout(control.ready, options.rampMs);
    await loop(control, options.clients, () => client.post(...saleOf(access, options.amount())));
    await client.close();
  };
}

const PAYOUT_CLIENTS = 32;
/** Pause between a client's further payouts, after the first ones. */
const PAYOUT_PAUSE_MS = 1_000;

/** Sends `first` payouts as fast as possible, and then a few until the end. */
async function payouts(
  { baseUrl, access }: AttackOrder,
  control: AttackControl,
  first: number,
  fieldsOf: (index: number) => Fields,
): Promise<void> {
  const client = clientFrom(SOURCE, baseUrl, PAYOUT_CLIENTS);
  let accepted = 0;
  let sent = 0;
  await loop(control, PAYOUT_CLIENTS, async () => {
    if (accepted >= first) await pause(PAYOUT_PAUSE_MS);
    const answer = await client.post(...payoutOf(access, fieldsOf((sent += 1))));
    if (answer['status'] === 'pending') accepted += 1;
    if (accepted === first) control.ready();
    return answer;
  });
  await client.close();
}

async function unansweredPayouts(order: AttackOrder, control: AttackControl): Promise<void> {
  await payouts(order, control, 600, () => ({ amount: UNANSWERED_AMOUNT }));
}

const HOSTS = 10_000;
const HOSTS_QUICK = 300;

/** Hosts that accept connections and never answer. They close at the end, so that open calls fail at once. */
async function hangingCallbacks(order: AttackOrder, control: AttackControl): Promise<void> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const urls: string[] = [];
  while (urls.length < (order.quick ? HOSTS_QUICK : HOSTS)) {
    const server = createServer((socket) => {
      sockets.add(socket);
      control.count('callback taken');
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    server.listen(0, SOURCE);
    await once(server, 'listening');
    servers.push(server);
    urls.push(`https://${SOURCE}:${(server.address() as AddressInfo).port}/callback`);
  }
  await payouts(order, control, urls.length, (index) => ({ callback_url: urls[index % urls.length] }));
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
}

const SLOW_CONNECTIONS = 2_100;
const BYTE_EVERY_MS = 500;
const COME_BACK_MS = 50;
const CONNECTIONS_AT_ONCE = 100;
/** More than this pace can send. */
const SLOW_BODY_BYTES = 10_000;

/** Sends a body byte by byte over each connection, and reconnects when it is closed. */
async function slowBodies({ baseUrl }: AttackOrder, control: AttackControl): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const head = `POST /api/pf/host-to-host HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${SLOW_BODY_BYTES}\r\n\r\n`;
  const one = async (): Promise<void> => {
    while (!control.isStopped()) {
      const socket = connect({ host: hostname, port: Number(port), localAddress: SOURCE });
      socket.on('error', () => undefined).resume();
      socket.once('connect', () => socket.write(head));
      const timer = setInterval(() => {
        if (control.isStopped()) socket.destroy();
        else socket.write(' ');
      }, BYTE_EVERY_MS);
      // Not `once`, which rejects if the connection was reset.
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(timer);
      control.count('closed');
      await pause(COME_BACK_MS);
    }
  };
  const running: Promise<void>[] = [];
  while (running.length < SLOW_CONNECTIONS) {
    for (let count = 0; count < CONNECTIONS_AT_ONCE; count += 1) running.push(one());
    await pause(COME_BACK_MS);
  }
  setTimeout(control.ready, 2 * BYTE_EVERY_MS);
  await Promise.all(running);
}

const GUESSING_SOURCES = 32;
const GUESSES_AT_ONCE = 4;
const GUESSING_RAMP_MS = 1_000;

/** Sends wrong passwords for unknown accounts from many addresses. */
async function passwordGuessing({ baseUrl }: AttackOrder, control: AttackControl): Promise<void> {
  const clients = Array.from({ length: GUESSING_SOURCES }, (_, index) =>
    clientFrom(`127.0.1.${index + 1}`, baseUrl, GUESSES_AT_ONCE),
  );
  setTimeout(control.ready, GUESSING_RAMP_MS);
  await loop(control, GUESSING_SOURCES * GUESSES_AT_ONCE, async (index) => {
    const guess = {
      merchantAccount: `nobody_${randomUUID().slice(0, 8)}`,
      password: randomUUID(),
      token: randomUUID(),
    };
    const client = clients[index % clients.length];
    return client === undefined ? {} : client.post(...saleOf(guess, '10.00'));
  });
  await Promise.all(clients.map((client) => client.close()));
}
