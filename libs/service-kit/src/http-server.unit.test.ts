import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:http';
import { Worker } from 'node:worker_threads';
import express from 'express';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { createInternalApi } from './internal-api';
import type { Logger } from './logger';
import { createMetrics } from './metrics';
import { startOpsServer } from './ops-server';

const LONG_ENOUGH_MS = 60_000;
const BURST_TIMEOUT_MS = 10_000;

async function ask(port: number, path: string, options: { agent?: Agent; authorization?: string } = {}) {
  const { agent, authorization } = options;
  const headers = authorization === undefined ? {} : { authorization };
  const request = get({ host: '127.0.0.1', port, path, headers, ...(agent === undefined ? {} : { agent }) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, body };
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
  expect(await running).toEqual({ status: 200, body: 'late' });
  await closed;
  agent.destroy();
});

test('a burst of connections waits for a busy process', async () => {
  const burst = 1_500;
  const server = await listen({ listener: () => undefined, port: 0, host: '127.0.0.1' });
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const clients = new Worker(
    `const { workerData: { port, burst, connected } } = require('node:worker_threads');
     for (let i = 0; i < burst; i += 1) {
       require('node:net').connect(port, '127.0.0.1', () => {
         if (Atomics.add(connected, 0, 1) + 1 === burst) Atomics.notify(connected, 0);
       });
     }`,
    { eval: true, workerData: { port: server.port, burst, connected } },
  );
  const givenUpAt = performance.now() + BURST_TIMEOUT_MS;
  // Blocks this thread, so that the server cannot accept.
  while (Atomics.load(connected, 0) < burst && performance.now() < givenUpAt) {
    Atomics.wait(connected, 0, Atomics.load(connected, 0), 10);
  }
  const connections = Atomics.load(connected, 0);
  await clients.terminate();
  await server.close(0);
  expect(connections).toBe(burst);
});

test('a taken port is the caller’s error', async () => {
  const first = await listen({ listener: () => undefined, port: 0, host: '127.0.0.1' });
  await expect(listen({ listener: () => undefined, port: first.port, host: '127.0.0.1' })).rejects.toThrow(
    'EADDRINUSE',
  );
  await first.close(0);
});

describe('an internal port', () => {
  const token = 'x'.repeat(32);
  const lines: [string, unknown][] = [];
  const logger = { error: (...line: [string, unknown]) => void lines.push(line) } as unknown as Logger;
  const routes = [
    express
      .Router()
      .get('/in', (_request, response) => void response.send('in'))
      .get('/:broken', () => Promise.reject(new Error('no space left'))),
  ];
  let server: ListeningServer;
  const open = async (serviceToken: string | undefined) => {
    const listener = createInternalApi({ routes, serviceToken, logger });
    server = await listen({ listener, port: 0, host: '127.0.0.1' });
    return server.port;
  };
  afterEach(() => server.close(0));

  test('asks for the service token where one is configured', async () => {
    const port = await open(token);
    expect(await ask(port, '/in')).toMatchObject({ status: 401 });
    expect(await ask(port, '/in', { authorization: 'Bearer y' })).toMatchObject({ status: 401 });
    expect(await ask(port, '/in', { authorization: `Bearer ${token}` })).toEqual({ status: 200, body: 'in' });
  });

  test('asks for none where none is', async () => {
    expect(await ask(await open(undefined), '/in')).toEqual({ status: 200, body: 'in' });
  });

  test('logs what goes wrong, and tells it in one sentence', async () => {
    expect(await ask(await open(undefined), '/broken')).toEqual({ status: 500, body: '{"error":"no space left"}' });
    const error: unknown = expect.objectContaining({ message: 'no space left' });
    expect(lines).toEqual([['an internal request failed', { method: 'GET', path: '/:broken', error }]]);
  });
});

test('the internal port tells life, readiness by check, and figures', async () => {
  let database = true;
  const ops = await startOpsServer({
    port: 0,
    host: '127.0.0.1',
    readiness: () => ({ database, bus: true }),
    metrics: createMetrics('test', { processFigures: true }),
  });
  expect(await ask(ops.port, '/health/live')).toMatchObject({ status: 200 });
  expect(await ask(ops.port, '/health/ready')).toMatchObject({ status: 200 });
  database = false;
  const notReady = await ask(ops.port, '/health/ready');
  expect(notReady.status).toBe(503);
  expect(JSON.parse(notReady.body)).toEqual({ ready: false, checks: { database: false, bus: true } });
  expect((await ask(ops.port, '/metrics')).body).toContain('process_resident_memory_bytes{service="test"}');
  await ops.close(0);
});
