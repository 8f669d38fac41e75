import type { TestCaller, TestCallers } from '@gateway/testing';
import { createCallers, newCaller, recordingLogger, until } from '@gateway/testing';
import { Registry } from 'prom-client';
import { ConfigurationError } from './configuration-error';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import type { InternalAccess } from './internal-access';
import { openInternalAccess } from './internal-access';
import { createInternalApi, internalRoutes } from './internal-api';
import { createMetrics } from './metrics';
import { aboutOf } from './about';
import { startOpsServer } from './ops-server';

const LOOPBACK = '127.0.0.1';
const alice = newCaller('alice', 'operator');
const edge = newCaller('edge-1', 'api-edge');
const collector = newCaller('prometheus', 'metrics');

let callers: TestCallers;
let lines: string[];
let metrics: Registry;
let access: InternalAccess;
let server: ListeningServer;

beforeEach(() => {
  callers = createCallers([alice, edge, collector]);
  lines = [];
  metrics = new Registry();
});
afterEach(async () => {
  await access.stop();
  await server.close(0);
  callers.remove();
});

function openAccess(settings: { CALLERS_FILE?: string; INTERNAL_HOST?: string; OPS_HOST?: string }): InternalAccess {
  access = openInternalAccess({ INTERNAL_HOST: LOOPBACK, ...settings }, { logger: recordingLogger(lines), metrics });
  access.start();
  return access;
}

async function open(settings: Parameters<typeof openAccess>[0] = { CALLERS_FILE: callers.file }): Promise<void> {
  const routes = internalRoutes();
  routes.get('/things/:name', ['api-edge', 'operator'], (request, response) => {
    response.json({ name: request.params.name });
  });
  routes.post('/things/:name/cut', ['operator'], (request, response, caller) => {
    response.json({ name: request.params.name, by: caller });
  });
  routes.get('/broken', ['operator'], () => Promise.reject(new Error('no space left')));
  const listener = createInternalApi({
    routes: [routes],
    access: openAccess(settings),
    logger: recordingLogger(lines),
  });
  server = await listen({ listener, port: 0, host: LOOPBACK });
}

async function ask(method: 'GET' | 'POST', path: string, token?: string, scheme = 'Bearer') {
  const headers = token === undefined ? {} : { authorization: `${scheme} ${token}` };
  const response = await fetch(`http://${LOOPBACK}:${server.port}${path}`, { method, headers });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
}

const refusals = async (labels: string) =>
  new RegExp(`^gateway_internal_requests_refused_total\\{${labels}\\} (\\d+)`, 'm').exec(await metrics.metrics())?.[1];

describe('with callers', () => {
  test('each route admits the kinds that it names, and knows the caller', async () => {
    await open();
    expect(await ask('GET', '/things/x', edge.token)).toEqual({ status: 200, body: { name: 'x' } });
    expect(await ask('GET', '/things/x', alice.token)).toMatchObject({ status: 200 });
    expect(await ask('GET', '/things/x', alice.token, 'bearer')).toMatchObject({ status: 200 });
    expect(await ask('POST', '/things/x/cut', alice.token)).toEqual({
      status: 200,
      body: { name: 'x', by: { name: 'alice', kind: 'operator' } },
    });
  });

  test('another kind gets 403 and is logged and counted by name', async () => {
    await open();
    expect(await ask('POST', '/things/x/cut', edge.token)).toEqual({
      status: 403,
      body: { error: 'edge-1 may not do this: its kind is api-edge' },
    });
    expect(await ask('GET', '/things/x', collector.token)).toMatchObject({ status: 403 });
    expect(lines[0]).toMatch(/^a caller was refused .*"caller":"edge-1","kind":"api-edge","allowed":\["operator"\]/);
    expect(await refusals('reason="role",kind="api-edge"')).toBe('1');
    expect(await refusals('reason="role",kind="metrics"')).toBe('1');
  });

  test.each<[string, TestCaller | undefined, string]>([
    ['no token', undefined, 'Bearer'],
    ['an unknown token', newCaller('mallory', 'operator'), 'Bearer'],
    ['a token of another scheme', alice, 'Basic'],
  ])('%s gets 401 on every path, without a trace of the token', async (_what, caller, scheme) => {
    await open();
    const asked = [
      ['GET', '/things/x'],
      ['POST', '/things/x/cut'],
      ['GET', '/nowhere'],
    ] as const;
    for (const [method, path] of asked) {
      expect(await ask(method, path, caller?.token, scheme)).toEqual({
        status: 401,
        body: { error: 'identity token missing or unknown' },
      });
    }
    expect(lines).toHaveLength(asked.length);
    expect(lines.join()).not.toContain(caller?.token ?? 'nobody');
    expect(await refusals('reason="unknown",kind="none"')).toBe(String(asked.length));
  });

  test('an unknown path is 404 for every caller', async () => {
    await open();
    expect(await ask('GET', '/nowhere', collector.token)).toEqual({ status: 404, body: { error: 'no such route' } });
    expect(await ask('POST', '/things/x', alice.token)).toMatchObject({ status: 404 });
  });

  test('a changed list counts without a restart, and a broken one does not', async () => {
    await open();
    const renewed = newCaller('alice', 'operator');
    callers.write([alice, renewed]);
    await until('the new token', async () => (await ask('GET', '/things/x', renewed.token)).status === 200);
    expect(await ask('GET', '/things/x', alice.token)).toMatchObject({ status: 200 });
    callers.write([renewed]);
    await until('the end of the old token', async () => (await ask('GET', '/things/x', alice.token)).status === 401);

    callers.writeText('[{"name": "alice"');
    await until('the error', () => lines.some((line) => /cannot be used.*"files":"callers".*not JSON/.test(line)));
    expect(await ask('GET', '/things/x', renewed.token)).toMatchObject({ status: 200 });
  });
});

describe('without callers', () => {
  test('everyone on this machine may call, as nobody in particular', async () => {
    await open({});
    expect(await ask('POST', '/things/x/cut')).toEqual({
      status: 200,
      body: { name: 'x', by: { name: 'unidentified', kind: 'operator' } },
    });
  });

  test('faults are logged, and answered with one sentence', async () => {
    await open({});
    expect(await ask('GET', '/broken')).toEqual({ status: 500, body: { error: 'no space left' } });
    expect(lines).toEqual([
      expect.stringMatching(/^an internal request failed \{"method":"GET","path":"\/broken"\} Error: no space left/),
    ]);
  });

  const BEYOND = ['0.0.0.0', '::', '10.0.0.1', 'internal.example.com', '127.0.0.1, 10.0.0.1'];
  test.each(BEYOND)('no port listens on %s', async (host) => {
    await open({});
    expect(() => openAccess({ INTERNAL_HOST: host })).toThrow(ConfigurationError);
    expect(() => openAccess({ INTERNAL_HOST: host })).toThrow(`INTERNAL_HOST is ${host}, beyond loopback`);
    expect(() => openAccess({ OPS_HOST: host })).toThrow(`OPS_HOST is ${host}, beyond loopback`);
  });

  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', '127.0.0.1,::1'])(
    'a port may listen on %s',
    async (host) => {
      await open({ INTERNAL_HOST: host });
      expect(access).toMatchObject({ host, opsHost: host, beyondLoopback: false });
    },
  );
});

describe('metrics and health', () => {
  const ABOUT = aboutOf('test', { GATEWAY_VERSION: '1.2.3', GATEWAY_COMMIT: 'abc', NODE_ENV: 'production' });

  async function openOps(settings: Parameters<typeof openAccess>[0]): Promise<void> {
    server = await startOpsServer({
      port: 0,
      access: openAccess(settings),
      about: ABOUT,
      readiness: () => ({ database: true }),
      metrics: createMetrics('test', { processFigures: false }),
    });
  }

  test('beyond loopback, metrics and versions ask for an identity, and health does not', async () => {
    await openOps({ CALLERS_FILE: callers.file, INTERNAL_HOST: '0.0.0.0' });
    for (const path of ['/metrics', '/about']) {
      expect(await ask('GET', path)).toMatchObject({ status: 401 });
      expect(await ask('GET', path, edge.token)).toMatchObject({ status: 403 });
      for (const { token } of [collector, alice]) expect(await ask('GET', path, token)).toMatchObject({ status: 200 });
    }
    for (const path of ['/health/live', '/health/ready']) expect(await ask('GET', path)).toMatchObject({ status: 200 });
  });

  test('they listen on addresses of their own, and metrics ask for an identity if only those are beyond loopback', async () => {
    await openOps({ CALLERS_FILE: callers.file, OPS_HOST: '0.0.0.0' });
    expect(access).toMatchObject({ host: LOOPBACK, opsHost: '0.0.0.0' });
    expect(server.server.address()).toMatchObject({ address: '0.0.0.0' });
    expect(await ask('GET', '/metrics')).toMatchObject({ status: 401 });
  });

  test('on loopback, metrics are open', async () => {
    await openOps({ CALLERS_FILE: callers.file });
    expect(await ask('GET', '/metrics')).toMatchObject({ status: 200 });
  });
});
