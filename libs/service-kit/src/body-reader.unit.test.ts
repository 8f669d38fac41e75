import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '@gateway/testing';
import fc from 'fast-check';
import type { BodyLimits, BodyResult } from './body-reader';
import { createBodyReader } from './body-reader';

const LONG_ENOUGH_MS = 60_000;
const ROOMY: BodyLimits = { max: 100, maxPerSource: 100, maxBytes: 1_000_000, maxBytesPerSource: 1_000_000 };

/** A request whose body the test sends in chunks. */
function begin(limits: Partial<BodyLimits>) {
  const reader = createBodyReader({ ...ROOMY, ...limits });
  return (source: string, options: { headers?: object; limitBytes?: number; timeoutMs?: number } = {}) => {
    const { headers = {}, limitBytes = 1_000, timeoutMs = LONG_ENOUGH_MS } = options;
    const stream = Object.assign(new PassThrough(), { headers });
    const body = { stream, result: undefined as BodyResult | undefined };
    const read = reader.read(stream as unknown as IncomingMessage, { source, limitBytes, timeoutMs });
    return Object.assign(body, { read: read.then((result) => (body.result = result)) });
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('reads a body that arrives in chunks', async () => {
  const { stream, read } = begin({})('192.0.2.1');
  stream.write('one');
  stream.end('two');
  expect(await read).toMatchObject({ bytes: Buffer.from('onetwo') });
});

test.each([
  ['too large', { limitBytes: 5 }, { fault: 'too-large' }],
  ['packed', { headers: { 'content-encoding': 'gzip' } }, { fault: 'encoded' }],
  ['as it is', { headers: { 'content-encoding': 'Identity' } }, { bytes: Buffer.from('sixsix') }],
])('a body that is %s is read to its end', async (_what, options, expected) => {
  const { stream, read } = begin({})('192.0.2.1', options);
  stream.end('sixsix');
  expect(await read).toMatchObject(expected);
});

test('an endless body is not read forever', async () => {
  const { stream, read } = begin({})('192.0.2.1', { limitBytes: 5 });
  stream.on('error', () => undefined);
  for (let sent = 0; sent <= 20; sent += 1) stream.write(Buffer.alloc(64 * 1024));
  expect(await read).toEqual({ fault: 'too-large' });
});

test('a slow body times out', async () => {
  const { read } = begin({})('192.0.2.1', { timeoutMs: 1 });
  expect(await read).toEqual({ fault: 'too-slow' });
});

test('a body whose client disconnected ends as cut-off', async () => {
  const { stream, read } = begin({})('192.0.2.1');
  stream.write('a');
  stream.destroy();
  expect(await read).toEqual({ fault: 'cut-off' });
});

test('a source with too many bodies loses its oldest, and other sources lose none', async () => {
  const start = begin({ maxPerSource: 2 });
  const other = start('192.0.2.9');
  const [first, second, third] = [start('2001:db8::1'), start('2001:db8::2'), start('2001:db8::3')];
  await settled();
  expect(first.result).toEqual({ fault: 'too-slow' });
  expect([second.result, third.result, other.result]).toEqual([undefined, undefined, undefined]);
});

test('a source with too many bytes loses its oldest body', async () => {
  const start = begin({ maxBytesPerSource: 10 });
  const [first, second] = [start('192.0.2.1'), start('192.0.2.1')];
  first.stream.write('123456');
  await settled();
  second.stream.write('12345');
  await settled();
  expect([first.result, second.result]).toEqual([{ fault: 'too-slow' }, undefined]);
});

test('beyond the whole budget the source with the most loses one', async () => {
  const start = begin({ max: 3 });
  const [quiet, loud] = [start('192.0.2.1'), start('192.0.2.2')];
  start('192.0.2.2');
  const newcomer = start('192.0.2.3');
  await settled();
  expect([quiet.result, loud.result, newcomer.result]).toEqual([undefined, { fault: 'too-slow' }, undefined]);
});

/** Of this thread, without garbage. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The flag is the process', and other tests in it bring a function of this name.
  setFlagsFromString('--no-expose-gc');
  collect();
  return process.memoryUsage().heapUsed;
}

test('a body in chunks of one byte takes no memory for each chunk', async () => {
  const bytes = 50_000;
  const reader = createBodyReader();
  let received = 0;
  let read: Promise<BodyResult> | undefined;
  const server = createServer((request) => {
    read = reader.read(request, { source: '192.0.2.1', limitBytes: bytes, timeoutMs: LONG_ENOUGH_MS });
    request.on('data', (chunk: Buffer) => (received += chunk.length));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nhost: gateway\r\ntransfer-encoding: chunked\r\n\r\n');
  await once(server, 'request');
  const before = heapBytes();
  client.write('1\r\nx\r\n'.repeat(bytes));
  await until('all have arrived', () => received === bytes);
  expect(heapBytes() - before).toBeLessThan(20 * bytes);
  client.write('0\r\n\r\n');
  expect(await read).toMatchObject({ bytes: Buffer.alloc(bytes, 'x') });
  client.destroy();
  server.close();
});

test('with random slow sources the budget holds and a body in one piece is read', async () => {
  const limits = { max: 6, maxPerSource: 3, maxBytes: 60, maxBytesPerSource: 30 };
  const step = fc.record({ source: fc.integer({ min: 1, max: 4 }), bytes: fc.integer({ min: 0, max: 10 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const start = begin(limits);
      const slow = steps.map(({ source, bytes }) => {
        const body = start(`192.0.2.${source}`);
        body.stream.write('x'.repeat(bytes));
        return { source, bytes, body };
      });
      await settled();
      const open = slow.filter(({ body }) => body.result === undefined);
      const held = (some: typeof open) => some.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(open.length).toBeLessThanOrEqual(limits.max);
      expect(held(open)).toBeLessThanOrEqual(limits.maxBytes);
      for (const source of [1, 2, 3, 4]) {
        const own = open.filter((one) => one.source === source);
        expect(own.length).toBeLessThanOrEqual(limits.maxPerSource);
        expect(held(own)).toBeLessThanOrEqual(limits.maxBytesPerSource);
      }
      const quick = start('192.0.2.100');
      quick.stream.end('quick');
      expect(await quick.read).toMatchObject({ bytes: Buffer.from('quick') });
    }),
  );
});

test('a body counts until it is released, with what it weighs', async () => {
  const start = begin({ maxBytesPerSource: 10 });
  const first = start('192.0.2.1');
  first.stream.end('12345678');
  const read = await first.read;
  if (!('bytes' in read)) throw new Error('not read');
  const refused = start('192.0.2.1');
  refused.stream.end('123');
  expect(await refused.read).toEqual({ fault: 'too-slow' });
  const other = start('192.0.2.2');
  other.stream.end('123');
  expect(await other.read).toMatchObject({ bytes: Buffer.from('123') });
  read.weigh(7);
  const second = start('192.0.2.1');
  second.stream.end('123');
  const secondRead = await second.read;
  expect(secondRead).toMatchObject({ bytes: Buffer.from('123') });
  read.release();
  const third = start('192.0.2.1');
  third.stream.end('1234567');
  expect(await third.read).toMatchObject({ bytes: Buffer.from('1234567') });
});

test('large bodies are handed over one in a turn of the event loop, small ones together', async () => {
  const handedOver = async (bytes: number): Promise<number[]> => {
    const start = begin({});
    const turns: number[] = [];
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const bodies = Array.from({ length: 4 }, () => start('192.0.2.1', { limitBytes: bytes }));
    for (const { stream } of bodies) stream.end(Buffer.alloc(bytes));
    await Promise.all(bodies.map(({ read }) => read.then(() => turns.push(turn))));
    isOver = true;
    return turns;
  };
  expect(new Set(await handedOver(20_000)).size).toBe(4);
  expect(new Set(await handedOver(1_000)).size).toBeLessThan(3);
});
