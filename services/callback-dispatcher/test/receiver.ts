import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  key: string;
  cert: string;
}

/** A certificate that signs itself, made for this run: for 127.0.0.1, ::1, localhost and shop.test. */
export function newCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'callback-receiver-'));
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const names = 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:shop.test';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const args = ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=receiver'];
  execFileSync('openssl', [...args, '-addext', names], { stdio: 'pipe' });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}

export interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  fields: Record<string, string>;
}

export type Answer = (received: Received, response: ServerResponse) => void;

/** A merchant's server, over real HTTPS. It remembers its requests, and answers as the test sets it. */
export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Connections so far. */
  connections(): number;
  answer(answer: Answer): void;
  close(): Promise<void>;
}

export const acknowledge: Answer = (_received, response) => void response.end('OK');
export const fail: Answer = (_received, response) => void response.writeHead(500).end('no');
/** Never answers. */
export const hang: Answer = () => undefined;

export async function startReceiver(certificate: Certificate, host = '127.0.0.1'): Promise<Receiver> {
  let current = acknowledge;
  let connections = 0;
  const received: Received[] = [];
  const server: Server = createServer(certificate, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        fields: Object.fromEntries(new URLSearchParams(body)),
      };
      received.push(one);
      current(one, response);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    received,
    connections: () => connections,
    answer: (answer) => void (current = answer),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Servers that accept connections and never answer, each with its own host and port. */
export interface SilentHosts {
  urls: string[];
  /** Open connections. */
  connections(): number;
  close(): Promise<void>;
}

export async function startSilentHosts(count: number): Promise<SilentHosts> {
  const sockets = new Set<Socket>();
  const servers = Array.from({ length: count }, () =>
    createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }),
  );
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return {
    urls: servers.map((server) => `https://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
