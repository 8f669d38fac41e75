import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:http';
import express from 'express';
import { listen, requireServiceToken } from './http-server';
import { createMetrics } from './metrics';
import { startOpsServer } from './ops-server';

const LONG_ENOUGH_MS = 60_000;

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

test('a taken port is the caller’s error', async () => {
  const first = await listen({ listener: () => undefined, port: 0, host: '127.0.0.1' });
  await expect(listen({ listener: () => undefined, port: first.port, host: '127.0.0.1' })).rejects.toThrow(
    'EADDRINUSE',
  );
  await first.close(0);
});

test('a service token is asked for where one is configured', async () => {
  const token = 'x'.repeat(32);
  const app = express().use(requireServiceToken(token), (_request, response) => void response.send('in'));
  const server = await listen({ listener: app as never, port: 0, host: '127.0.0.1' });
  expect(await ask(server.port, '/')).toMatchObject({ status: 401 });
  expect(await ask(server.port, '/', { authorization: 'Bearer y' })).toMatchObject({ status: 401 });
  expect(await ask(server.port, '/', { authorization: `Bearer ${token}` })).toEqual({ status: 200, body: 'in' });
  await server.close(0);
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
