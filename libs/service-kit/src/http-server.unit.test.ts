import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Agent, get } from 'node:http';
import { get as getByTls } from 'node:https';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCertificate, silentLogger, until } from '@gateway/testing';
import { Registry } from 'prom-client';
import type { ConnectionLimits } from './connection-limits';
import { DEFAULT_CONNECTION_LIMITS } from './connection-limits';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { openInternalAccess } from './internal-access';
import { PUBLIC_SOCKETS } from './listening-sockets';
import { createMetrics } from './metrics';
import { aboutOf } from './about';
import { startOpsServer } from './ops-server';

const LONG_ENOUGH_MS = 60_000;
const BURST_TIMEOUT_MS = 10_000;
/** Node then closes a connection by itself. */
const HANDSHAKE_MS = 10_000;

async function ask(port: number, path: string, options: { agent?: Agent } = {}) {
  const request = get({ host: '127.0.0.1', port, path, ...options });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, body, connection: response.headers.connection };
}

test('closing lets a running request end, and its kept-alive connection with it', async () => {
  let answer: (() => void) | undefined;
  const server = await listen({
    listener: (_request, response) => {
      answer = () => response.end('late');
    },
    port: 0,
    host: '127.0.0.1',
  });
  const agent = new Agent({ keepAlive: true });
  const running = ask(server.port, '/', { agent });
  await once(server.server, 'request');
  const closed = server.close(LONG_ENOUGH_MS);
  answer?.();
  expect(await running).toEqual({ status: 200, body: 'late', connection: 'close' });
  await closed;
  agent.destroy();
});

test('a public port that closes still answers on a kept-alive connection, and ends it with the answer', async () => {
  const server = await listen({
    listener: (_request, response) => void response.end('answered'),
    port: 0,
    host: '127.0.0.1',
    connections: DEFAULT_CONNECTION_LIMITS,
  });
  const accepted: Socket[] = [];
  server.server.on('connection', (socket) => accepted.push(socket));
  const agent = new Agent({ keepAlive: true });
  expect(await ask(server.port, '/', { agent })).toMatchObject({ connection: 'keep-alive' });
  const closed = server.close(LONG_ENOUGH_MS);
  expect(await ask(server.port, '/', { agent })).toEqual({ status: 200, body: 'answered', connection: 'close' });
  await closed;
  expect(accepted).toHaveLength(1);
  agent.destroy();
});

test('a public port closes although a connection stays idle', async () => {
  const server = await listen({
    listener: (_request, response) => void response.end('answered'),
    port: 0,
    host: '127.0.0.1',
    connections: DEFAULT_CONNECTION_LIMITS,
  });
  const agent = new Agent({ keepAlive: true });
  await ask(server.port, '/', { agent });
  await server.close(LONG_ENOUGH_MS);
  await expect(ask(server.port, '/', { agent: new Agent() })).rejects.toThrow('ECONNREFUSED');
  agent.destroy();
});

describe('a burst of connections', () => {
  const burst = 1_500;
  let server: ListeningServer;
  let clients: Worker;
  let accepted: number;
  let turns: number;

  /** Resolves when all clients have connected while this thread was blocked. */
  async function connectAll(connections: ConnectionLimits | undefined): Promise<number> {
    server = await listen({
      listener: () => undefined,
      port: 0,
      host: '127.0.0.1',
      ...(connections === undefined ? {} : { connections }),
    });
    accepted = 0;
    turns = 0;
    server.server.on('connection', () => (accepted += 1));
    const connected = new Int32Array(new SharedArrayBuffer(4));
    clients = new Worker(
      `const { workerData: { port, burst, connected } } = require('node:worker_threads');
       for (let i = 0; i < burst; i += 1) {
         require('node:net').connect(port, '127.0.0.1', () => {
           if (Atomics.add(connected, 0, 1) + 1 === burst) Atomics.notify(connected, 0);
         });
       }`,
      { eval: true, workerData: { port: server.port, burst, connected } },
    );
    const givenUpAt = performance.now() + BURST_TIMEOUT_MS;
    while (Atomics.load(connected, 0) < burst && performance.now() < givenUpAt) {
      Atomics.wait(connected, 0, Atomics.load(connected, 0), 10);
    }
    return Atomics.load(connected, 0);
  }

  async function acceptAll(): Promise<void> {
    while (accepted < burst) {
      turns += 1;
      await nextTurn();
    }
  }

  afterEach(async () => {
    await clients.terminate();
    await server.close(0);
  });

  test('waits for a busy process', async () => {
    expect(await connectAll(undefined)).toBe(burst);
  });

  test('gets into a public port in few turns of the event loop', async () => {
    await connectAll(DEFAULT_CONNECTION_LIMITS);
    await acceptAll();
    // The kernel spreads connections unevenly.
    expect(turns).toBeLessThan((3 * burst) / PUBLIC_SOCKETS);
  });
});

test('all sockets of a public port speak TLS, and close', async () => {
  const { cert, key } = await createCertificate();
  const server = await listen({
    listener: (_request, response) => void response.end('answered'),
    port: 0,
    host: '127.0.0.1',
    tls: { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined },
    connections: DEFAULT_CONNECTION_LIMITS,
  });
  const { port } = server;
  const requests = Array.from({ length: 4 * PUBLIC_SOCKETS }, () =>
    once(getByTls({ host: '127.0.0.1', port, ca: cert, agent: false }), 'response'),
  );
  for (const [response] of (await Promise.all(requests)) as [IncomingMessage][]) {
    expect(await text(response)).toBe('answered');
  }
  await server.close(LONG_ENOUGH_MS);
  await expect(once(getByTls({ host: '127.0.0.1', port, ca: cert, agent: false }), 'response')).rejects.toThrow(
    'ECONNREFUSED',
  );
});

describe('a client that does not end its TLS handshake', () => {
  let server: ListeningServer;
  let open: Set<Socket>;
  beforeEach(async () => {
    const { cert, key } = await createCertificate();
    server = await listen({
      listener: () => undefined,
      port: 0,
      host: '127.0.0.1',
      tls: { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined },
      connections: DEFAULT_CONNECTION_LIMITS,
    });
    open = new Set();
    server.server.on('connection', (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
  });

  test('leaves no connection when it gives up, on any socket of the port', async () => {
    const clients = Array.from({ length: PUBLIC_SOCKETS }, () =>
      once(getByTls({ host: '127.0.0.1', port: server.port, agent: false }), 'response'),
    );
    for (const { status } of await Promise.allSettled(clients)) expect(status).toBe('rejected');
    await until('all connections are closed', () => open.size === 0, HANDSHAKE_MS / 2);
    await server.close(LONG_ENOUGH_MS);
  });

  test('is cut when the server closes', async () => {
    const clients = Array.from({ length: PUBLIC_SOCKETS }, () => connect(server.port, '127.0.0.1'));
    await until('all are connected', () => open.size === clients.length);
    const ends: unknown[] = [];
    server.server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => ends.push(code));
    await server.close(0);
    await until('all are cut', () => open.size === 0);
    expect(ends).not.toContain('ERR_TLS_HANDSHAKE_TIMEOUT');
    for (const client of clients) client.destroy();
  });
});

test.each([
  ['an internal', {}],
  ['a public', { connections: DEFAULT_CONNECTION_LIMITS }],
])('%s port listens on each of its addresses and no other, and closes on all', async (_name, connections) => {
  const listener: RequestListener = (_request, response) => void response.end('answered');
  const server = await listen({ listener, port: 0, host: '127.0.0.2, 127.0.0.3', ...connections });
  const { port } = server;
  const askAt = async (host: string) => {
    const [response] = (await once(get({ host, port, agent: false }), 'response')) as [IncomingMessage];
    return text(response);
  };
  for (const host of ['127.0.0.2', '127.0.0.3']) expect(await askAt(host)).toBe('answered');
  await expect(askAt('127.0.0.1')).rejects.toThrow('ECONNREFUSED');
  await expect(listen({ listener, port, host: '127.0.0.4,127.0.0.3', ...connections })).rejects.toThrow('EADDRINUSE');
  await server.close(LONG_ENOUGH_MS);
  for (const host of ['127.0.0.2', '127.0.0.3']) await expect(askAt(host)).rejects.toThrow('ECONNREFUSED');
});

test.each([
  ['an internal', {}],
  ['a public', { connections: DEFAULT_CONNECTION_LIMITS }],
])('listening on %s port that is taken rejects with the error', async (_name, connections) => {
  const options = { listener: () => undefined, host: '127.0.0.1', ...connections };
  const first = await listen({ ...options, port: 0 });
  await expect(listen({ ...options, port: first.port })).rejects.toThrow('EADDRINUSE');
  await first.close(0);
});

test('the internal port serves liveness, readiness by check, metrics, and what runs', async () => {
  let database = true;
  const ops = await startOpsServer({
    port: 0,
    access: openInternalAccess({ INTERNAL_HOST: '127.0.0.1' }, { logger: silentLogger, metrics: new Registry() }),
    about: aboutOf(
      'test',
      { GATEWAY_VERSION: '1.2.3', GATEWAY_COMMIT: 'abc', NODE_ENV: 'production' },
      { CARD_KEYS: [{ id: 'new', fingerprint: 'fa' }, { id: 'old' }], TOKEN_KEYS: [{ id: 'new' }] },
    ),
    readiness: () => ({ database, bus: true }),
    metrics: createMetrics('test', { processFigures: true }),
  });
  expect(await ask(ops.port, '/health/live')).toMatchObject({ status: 200 });
  expect(await ask(ops.port, '/health/ready')).toMatchObject({ status: 200 });
  database = false;
  const notReady = await ask(ops.port, '/health/ready');
  expect(notReady.status).toBe(503);
  expect(JSON.parse(notReady.body)).toEqual({
    ready: false,
    checks: { database: false, bus: true },
    mode: 'ordinary',
  });
  const { body: metrics } = await ask(ops.port, '/metrics');
  expect(metrics).toContain('process_resident_memory_bytes{service="test"}');
  expect(metrics).toContain('gateway_ready{check="database",service="test"} 0\n');
  expect(metrics).toContain('gateway_ready{check="bus",service="test"} 1\n');
  expect(metrics).toContain('gateway_vault_keys{ring="CARD_KEYS",state="retired",service="test"} 1\n');
  const about = {
    service: 'test',
    version: '1.2.3',
    commit: 'abc',
    profile: 'production',
    exceptions: [],
    node: process.versions.node,
  };
  expect(JSON.parse((await ask(ops.port, '/about')).body)).toEqual({
    ...about,
    keys: { CARD_KEYS: ['new', 'old'], TOKEN_KEYS: ['new'] },
    fingerprints: { CARD_KEYS: { new: 'fa' } },
  });
  await ops.close(0);
});

test('a public port is open to requests from the first time that all checks pass, while the database is there', async () => {
  const checks = { started: true, database: true, bus: false };
  const ops = await startOpsServer({
    port: 0,
    access: openInternalAccess({ INTERNAL_HOST: '127.0.0.1' }, { logger: silentLogger, metrics: new Registry() }),
    about: aboutOf('test', { GATEWAY_VERSION: '1.2.3', GATEWAY_COMMIT: 'abc', NODE_ENV: 'production' }, {}),
    readiness: () => checks,
    metrics: new Registry(),
  });
  const isServing = async (now: Partial<typeof checks>): Promise<boolean> => {
    Object.assign(checks, now);
    const { status, body } = await ask(ops.port, '/health/serving');
    expect(JSON.parse(body)).toEqual({ serving: status === 200, checks });
    return status === 200;
  };
  expect(await isServing({ bus: false })).toBe(false);
  expect(await isServing({ bus: true })).toBe(true);
  expect(await isServing({ bus: false })).toBe(true);
  expect(await isServing({ database: false })).toBe(false);
  expect(await isServing({ database: true })).toBe(true);
  expect(await isServing({ started: false })).toBe(false);
  await ops.close(0);
});

describe('a port that takes HTTP beside TLS', () => {
  let certificate: Awaited<ReturnType<typeof createCertificate>>;
  let server: ListeningServer;
  beforeAll(async () => {
    certificate = await createCertificate();
    const { cert, key } = certificate;
    server = await listen({
      listener: (request, response) => void response.end(String('encrypted' in request.socket)),
      port: 0,
      host: '127.0.0.1',
      tls: { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined },
      alsoPlain: true,
    });
  });
  afterAll(() => server.close(0));

  async function askByTls(): Promise<string> {
    const request = getByTls({ host: 'localhost', port: server.port, ca: certificate.cert, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return text(response);
  }

  test('serves both, each as what it is', async () => {
    expect(await askByTls()).toBe('true');
    expect(await ask(server.port, '/')).toMatchObject({ status: 200, body: 'false' });
  });

  test('takes several requests on a connection, and a head in pieces of one byte', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await ask(server.port, '/', { agent })).toMatchObject({ body: 'false', connection: 'keep-alive' });
    }
    agent.destroy();
    const slow = connect(server.port, '127.0.0.1').setNoDelay(true);
    for (const byte of 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') {
      slow.write(byte);
      await nextTurn();
    }
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 200 OK[^]*false/);
  });

  test('cuts whoever is neither, and outlives whoever gives up', async () => {
    const odd = connect(server.port, '127.0.0.1');
    odd.write(Buffer.from([0, 1, 2, 3]));
    expect(await text(odd)).toMatch(/^HTTP\/1\.1 400 /);
    const gone = connect(server.port, '127.0.0.1');
    await once(gone, 'connect');
    gone.resetAndDestroy();
    expect(await askByTls()).toBe('true');
  });
});
