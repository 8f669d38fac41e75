import { ExpireAuthorization } from '@gateway/contracts';
import { on } from '@gateway/messaging';
import type { CommonConfig } from '@gateway/service-kit';
import { DEFAULT_CONNECTION_LIMITS, internalRoutes, listen } from '@gateway/service-kit';
import type { Frame, Parts } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import { framedDeps } from './framed-fixture';

let space: Space;
let events: string[];
let frame: Frame<CommonConfig>;
beforeAll(async () => {
  space = await openSpace('frame');
});
afterAll(() => space.remove());
beforeEach(() => {
  events = [];
});

const record = (event: string) => void events.push(event);
const recording = (name: string) => ({
  start: () => record(`${name} starts`),
  stop: () => record(`${name} stops`),
});
const answering = (text: string) => ({
  listener: (_request: unknown, response: { end(text: string): void }) => response.end(text),
  port: 0,
  host: '127.0.0.1',
});

const inner = internalRoutes();
inner.get('/', ['operator'], (_request, response) => void response.send('inner'));

const outer = () => ({
  name: 'outer' as const,
  ...answering('outer'),
  listener: () => answering('outer').listener,
  connections: DEFAULT_CONNECTION_LIMITS,
});

/** A service with one of each part, which record when they start and stop. */
function newService(changes: Partial<Parts<'inner' | 'outer'>> = {}) {
  return createFramedService({
    service: { name: 'framed', database: 'expiry', consumes: ['cardExpiries'], produces: [], shares: {} },
    deps: framedDeps(space),
    async open(opened: Frame<CommonConfig>): Promise<Parts<'inner' | 'outer'>> {
      frame = opened;
      frame.onStopLast(() => record(`last closes, database ${frame.mongo.healthy() ? 'open' : 'closed'}`));
      frame.database({ healthy: () => true, close: async () => record('vault closes') });
      frame.onStop(() => record('connector closes'));
      return {
        beside: [recording('first'), recording('second')],
        worker: { handlers: [on(ExpireAuthorization, async () => undefined)] },
        loops: [recording('loop')],
        internal: { name: 'inner', port: 0, routes: [inner] },
        public: outer(),
        ...changes,
      };
    },
  });
}

const CLOSING = ['connector closes', 'vault closes', 'last closes, database closed'];

async function isOver(): Promise<void> {
  expect(frame.mongo.healthy()).toBe(false);
  await expect(frame.publisher.publishRaw({ topic: 't', key: null, value: null, headers: {} })).rejects.toThrow(
    'the publisher is not running',
  );
}

test('everything opens in order, answers, and closes in reverse', async () => {
  const service = newService();
  await service.start();
  expect(events).toEqual(['first starts', 'second starts', 'loop starts']);
  const get = (port: number, path = '/') => fetch(`http://127.0.0.1:${port}${path}`);
  const ready = await get(service.ports.ops, '/health/ready');
  expect(await ready.json()).toEqual({
    ready: true,
    checks: { started: true, clock: true, database: true, login: true, consumer: true, permitted: true },
    mode: 'ordinary',
  });
  expect(await (await get(service.ports.inner)).text()).toBe('inner');
  expect(await (await get(service.ports.outer)).text()).toBe('outer');

  events = [];
  await service.stop();
  expect(events).toEqual(['loop stops', 'second stops', 'first stops', ...CLOSING]);
  await isOver();
});

test('a start that fails at its last step closes everything', async () => {
  const other = await listen(answering('other'));
  const service = newService({ public: { ...outer(), port: other.port } });
  await expect(service.start()).rejects.toThrow('EADDRINUSE');
  expect(events).toEqual([
    'first starts',
    'second starts',
    'loop starts',
    'loop stops',
    'second stops',
    'first stops',
    ...CLOSING,
  ]);
  await isOver();
  await other.close(0);
});

test('a part that fails to start is stopped, too, and later parts never start', async () => {
  const failing = { ...recording('failing'), start: () => Promise.reject(new Error('no such bank')) };
  const service = newService({ beside: [recording('first'), failing, recording('second')] });
  await expect(service.start()).rejects.toThrow('no such bank');
  expect(events).toEqual(['first starts', 'failing stops', 'first stops', ...CLOSING]);
  await isOver();
});

test('a check of the service replaces the one of the frame', async () => {
  const service = newService({ readiness: () => ({ database: false, bus: true }) });
  await service.start();
  const ready = await fetch(`http://127.0.0.1:${service.ports.ops}/health/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ checks: { database: false, bus: true } });
  await service.stop();
});
