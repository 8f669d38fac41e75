import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { payoutOf, saleOf } from './neighbours-requests';
import type { MerchantAccess } from './neighbours-requests';
import type { Fields } from './load';

/** What an attacker's process is told. */
export interface AttackOrder {
  attack: AttackName;
  baseUrl: string;
  access: MerchantAccess;
  /** Shorter ramps. */
  quick: boolean;
}

export interface AttackControl {
  /** Call it when the attack is at its height. */
  ready(): void;
  isStopped(): boolean;
  /** Counts an answer; kinds come from a small set. */
  count(kind: string): void;
}

type Attack = (order: AttackOrder, control: AttackControl) => Promise<void>;

/** An address of their own, as others have: limits of a source do not hit the victim. */
const SOURCE = '127.0.0.2';
const ANSWER_TIMEOUT_MS = 40_000;
const RETRY_MS = 100;

/** Delayed by the proxy that stands before the simulator, which sees it without zeros at its end; approved. */
export const SLOW_AMOUNT = '41.41';
/** Carried out, and never answered. */
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

/** As many at once, each again and again until the end; an answer that is an error is counted and waited out. */
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
/** Between further payouts of a client, once the first ones are in. */
const PAYOUT_PAUSE_MS = 1_000;

/** Sends `first` payouts as fast as it may, and some more until the end. */
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

const HOSTS = 2_000;
const HOSTS_QUICK = 300;

/** Each host takes a connection and never says a word. At the end they are gone: what is left over fails at once. */
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
/** More than anyone sends at this pace. */
const SLOW_BODY_BYTES = 10_000;

/** A body byte by byte over each connection, and over a new one when it is closed. */
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
      // Not `once`, which rejects when the connection was reset.
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

/** Wrong passwords for accounts that nobody has, from many addresses. */
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
