import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const COMMAND = join(__dirname, '..', '..', 'libs', 'merchant-client', 'bin', 'gateway.js');

/** A run of the built `gateway` command, as a merchant starts it. */
export interface GatewayCommand {
  /** Standard output and standard error. */
  output(): string;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

const running = new Set<ChildProcess>();

export function startCommand(env: Record<string, string>, ...args: string[]): GatewayCommand {
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | string;
  });
  return { output: () => output.join(''), kill: (signal) => void child.kill(signal), ended };
}

/** Runs it to its end. */
export async function runCommand(env: Record<string, string>, ...args: string[]) {
  const command = startCommand(env, ...args);
  const code = await command.ended;
  return { code, output: command.output() };
}

export async function endCommands(): Promise<void> {
  const ended = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ended);
}

export interface LocalCallback {
  path: string;
  headers: IncomingHttpHeaders;
  /** As it came. */
  body: string;
  reference: string;
}

/** A shop under development, without TLS. */
export interface LocalShop {
  readonly port: number;
  readonly received: LocalCallback[];
  /** The status of its next answers; after them it acknowledges. */
  readonly statuses: number[];
  /** From the request of that number on it does not answer, until the returned function is called. */
  hold(from: number): () => void;
  close(): Promise<void>;
}

/** @param port 0 takes a free one */
export async function startLocalShop(port = 0): Promise<LocalShop> {
  let held: { from: number; released: Promise<void> } | undefined;
  const received: LocalCallback[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const reference = new URLSearchParams(body).get('reference') ?? '';
      received.push({ path: request.url ?? '', headers: request.headers, body, reference });
      const answer = (): unknown => response.writeHead(statuses.shift() ?? 200).end('OK');
      if (held !== undefined && received.length >= held.from) void held.released.then(answer);
      else answer();
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    statuses,
    hold(from) {
      let release = (): void => undefined;
      held = { from, released: new Promise((resolve) => (release = resolve)) };
      return () => {
        held = undefined;
        release();
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
