import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createAddressGuard } from '../src/adapters/http/address-guard';
import { ANSWER_MAX_BYTES, createCallbackClient, INTERIM_ANSWERS_MAX } from '../src/adapters/http/callback-client';
import type { Receiver } from './receiver';
import { hang, newCertificate, startReceiver } from './receiver';

const certificate = newCertificate();
const LOOPBACK = '127.0.0.0/8,::1/128';
const SHORT_MS = 150;
const body = 'reference=0123456789ABCDEF0001&message=a+b';
const headers = { 'webhook-id': 'delivery-1', 'user-agent': 'not ours' };

let receiver: Receiver;
const opened: { close(): void }[] = [];

function open(options: Partial<Parameters<typeof createCallbackClient>[0]> & { allow?: string } = {}) {
  const { allow = LOOPBACK, ...rest } = options;
  const client = createCallbackClient({ guard: createAddressGuard(allow), ca: certificate.cert, ...rest });
  opened.push(client);
  return client;
}

beforeEach(async () => {
  receiver = await startReceiver(certificate);
});
afterEach(async () => {
  for (const one of opened.splice(0)) one.close();
  await receiver.close();
});

describe('a callback', () => {
  it('is a form post; the result has the answer, its status and the dialled address', async () => {
    const result = await open().post({ url: `${receiver.url}/done?x=1`, body, headers });
    expect(result).toEqual({ httpStatus: 200, body: 'OK', address: '127.0.0.1', durationMs: expect.any(Number) });
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      path: '/done?x=1',
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'accept-encoding': 'identity',
        'webhook-id': 'delivery-1',
        'user-agent': 'payment-gateway',
      },
    });
  });

  it.each([
    ['shop%40:pass', 'shop@:pass'],
    ['shop', 'shop:'],
    [':100%25%zz', ':100%25%zz'],
  ])('authenticates as its address says: %s', async (inAddress, credentials) => {
    const url = receiver.url.replace('//', `//${inAddress}@`);
    expect(await open().post({ url, body, headers })).toMatchObject({ httpStatus: 200 });
    expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${Buffer.from(credentials).toString('base64')}`);
  });

  it('has these headers and no others', async () => {
    await open().post({ url: receiver.url, body: 'message=\u00e4', headers });
    expect(Object.keys(receiver.received[0]?.headers ?? {})).toEqual([
      'webhook-id',
      'user-agent',
      'content-type',
      'accept-encoding',
      'content-length',
      'host',
      'connection',
    ]);
    expect(receiver.received[0]?.headers['content-length']).toBe('10');
  });

  it('fails alone if a header cannot be sent', async () => {
    const client = open();
    const result = await client.post({ url: receiver.url, body, headers: { 'webhook-id': 'two\nlines' } });
    expect(result).toMatchObject({ error: 'ERR_INVALID_CHAR' });
    expect(await client.post({ url: receiver.url, body, headers })).toMatchObject({ httpStatus: 200 });
  });

  it('reuses the previous connection', async () => {
    const client = open();
    for (let count = 0; count < 3; count += 1) await client.post({ url: receiver.url, body, headers });
    expect(receiver.connections()).toBe(1);
  });

  it('does not follow redirects', async () => {
    receiver.answer((_received, response) => void response.writeHead(302, { location: '/other' }).end('OK'));
    expect(await open().post({ url: receiver.url, body, headers })).toMatchObject({ httpStatus: 302 });
    expect(receiver.received).toHaveLength(1);
  });

  it('uses no proxy from the environment', async () => {
    const before = process.env['HTTPS_PROXY'];
    process.env['HTTPS_PROXY'] = 'http://127.0.0.1:1';
    try {
      expect(await open().post({ url: receiver.url, body, headers })).toMatchObject({ httpStatus: 200 });
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY'];
      else process.env['HTTPS_PROXY'] = before;
    }
  });

  it('reads 4 KiB of the answer and releases the connection', async () => {
    const letGo = new Promise((resolve) => {
      receiver.answer((_received, response) => {
        response.once('close', resolve).write('x'.repeat(ANSWER_MAX_BYTES + 1));
      });
    });
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, truncated: true });
    expect(result).not.toHaveProperty('error');
    expect(result.body).toHaveLength(ANSWER_MAX_BYTES);
    await letGo;
  });

  it('tells a truncated answer from a complete one', async () => {
    receiver.answer((_received, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('OK', () => response.destroy());
    });
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, body: 'OK', truncated: true, error: 'ECONNRESET' });
    expect(result.timedOut).toBeUndefined();
  });

  it.each([
    [
      'that switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'the call failed',
    ],
    ['that is not HTTP', 'SSH-2.0-x\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ])('ends with an answer %s', async (_title, text, error) => {
    receiver.answer((_received, response) => void response.socket?.write(text));
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toEqual({ error, address: '127.0.0.1', durationMs: expect.any(Number) });
  });

  const interim = (count: number): string => 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(count);

  it('takes some interim answers', async () => {
    receiver.answer((_received, response) => {
      response.socket?.write(interim(INTERIM_ANSWERS_MAX));
      response.end('OK');
    });
    expect(await open().post({ url: receiver.url, body, headers })).toMatchObject({ httpStatus: 200, body: 'OK' });
  });

  it.each([1, 1_000])('ends with an answer of interim answers without end, %i at a time', async (count) => {
    const letGo = new Promise((resolve) => {
      receiver.answer((_received, response) => {
        response.socket?.once('close', resolve);
        const send = (): void => {
          if (response.socket?.writable === true) response.socket.write(interim(count), () => setImmediate(send));
        };
        send();
      });
    });
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toEqual({ error: 'the call failed', address: '127.0.0.1', durationMs: expect.any(Number) });
    await letGo;
  });

  it('leaves no timer behind', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const client = open();
    await client.post({ url: receiver.url, body, headers });
    const before = timers();
    for (let count = 0; count < 5; count += 1) await client.post({ url: receiver.url, body, headers });
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('takes an answer of exactly 4 KiB as complete', async () => {
    receiver.answer((_received, response) => void response.end('OK'.padEnd(ANSWER_MAX_BYTES)));
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result.truncated).toBeUndefined();
    expect(result.body?.trim()).toBe('OK');
  });
});

describe('a compressed answer', () => {
  const LONG = `<html>${' '.repeat(ANSWER_MAX_BYTES)}</html>`;
  const MEGABYTES = Buffer.alloc(64 * 1024 * 1024);
  const answerWith = (encoding: string, bytes: Buffer | string): void =>
    receiver.answer((_received, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });

  it.each([
    ['gzip', gzipSync('OK')],
    ['x-gzip', gzipSync('OK')],
    [' GZIP ', gzipSync('OK')],
    ['deflate', deflateSync('OK')],
    ['deflate', deflateRawSync('OK')],
    ['br', brotliCompressSync('OK')],
    ['identity', 'OK'],
    ['', 'OK'],
  ])('is decoded: %j', async (encoding, bytes) => {
    answerWith(encoding, bytes);
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toEqual({ httpStatus: 200, body: 'OK', address: '127.0.0.1', durationMs: expect.any(Number) });
  });

  it.each([
    ['gzip', gzipSync(LONG)],
    ['gzip', gzipSync(MEGABYTES).subarray(0, ANSWER_MAX_BYTES)],
    ['br', brotliCompressSync(MEGABYTES)],
    ['deflate', deflateSync(MEGABYTES).subarray(0, ANSWER_MAX_BYTES)],
  ])('is decoded up to 4 KiB: %s', async (encoding, bytes) => {
    answerWith(encoding, bytes);
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, truncated: true });
    expect(result.body).toHaveLength(ANSWER_MAX_BYTES);
    expect(result).not.toHaveProperty('undecoded');
  });

  it('is decoded as far as it was read', async () => {
    answerWith('gzip', gzipSync(`begins${randomBytes(2 * ANSWER_MAX_BYTES).toString('latin1')}`));
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ truncated: true, body: expect.stringMatching(/^begins/) });
    expect(result).not.toHaveProperty('undecoded');
  });

  it.each([
    ['cut off', 'gzip', gzipSync('OK').subarray(0, 14)],
    ['gzip that is text', 'gzip', Buffer.from('<pre>no</pre>')],
    ['deflate that is text', 'deflate', Buffer.from('no')],
    ['br that is text', 'br', Buffer.from('<pre>no</pre>')],
    ['unknown', 'zstd', Buffer.from('no')],
    ['encoded twice', 'gzip, gzip', gzipSync(gzipSync('OK'))],
    ['a long name', 'x'.repeat(10_000), Buffer.from('no')],
  ])('says if it cannot be decoded: %s', async (_title, encoding, bytes) => {
    answerWith(encoding, bytes);
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, undecoded: true, body: bytes.toString() });
    expect(result).not.toHaveProperty('error');
  });

  it.each(['gzip', 'deflate', 'br', 'zstd'])('is taken as it came if it is not compressed: %s', async (encoding) => {
    for (const text of ['OK', ' OK', '\nOK\n', '']) {
      answerWith(encoding, text);
      expect(await open().post({ url: receiver.url, body, headers })).toMatchObject({ httpStatus: 200, body: text });
    }
  });
});

describe('time-outs', () => {
  it('end a call that gets no answer', async () => {
    receiver.answer(hang);
    const result = await open({ timeouts: { totalTimeoutMs: SHORT_MS } }).post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ error: 'no answer in time', timedOut: true, address: '127.0.0.1' });
    expect(result.durationMs).toBeLessThan(5_000);
  });

  it('end a call whose answer does not end; the answer is incomplete', async () => {
    receiver.answer((_received, response) => void response.write('OK'));
    const result = await open({ timeouts: { totalTimeoutMs: SHORT_MS } }).post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, body: 'OK', truncated: true, timedOut: true });
  });

  describe('while connecting', () => {
    const sockets: Socket[] = [];
    let silent: Server;
    beforeEach(async () => {
      silent = createServer((socket) => {
        socket.on('error', () => undefined);
        sockets.push(socket);
      }).listen(0, '127.0.0.1');
      await once(silent, 'listening');
    });
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
      silent.close();
    });

    it('end a handshake that does not complete', async () => {
      const { port } = silent.address() as AddressInfo;
      const result = await open({ timeouts: { connectTimeoutMs: SHORT_MS } }).post({
        url: `https://127.0.0.1:${port}/`,
        body,
        headers,
      });
      expect(result).toMatchObject({ error: 'no connection in time (CONNECT_TIMED_OUT)', timedOut: true });
      expect(result.address).toBe('127.0.0.1');
    });
  });

  it('do not cut a connection established in time', async () => {
    receiver.answer((_received, response) => void setTimeout(() => response.end('OK'), SHORT_MS * 2));
    const result = await open({ timeouts: { connectTimeoutMs: SHORT_MS } }).post({ url: receiver.url, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, body: 'OK' });
  });
});

describe('an unreachable server', () => {
  it('is reported by a code at once, not as a time-out', async () => {
    await receiver.close();
    const result = await open().post({ url: receiver.url, body, headers });
    expect(result).toEqual({ error: 'ECONNREFUSED', address: '127.0.0.1', durationMs: expect.any(Number) });
    receiver = await startReceiver(certificate);
  });

  it('may have an untrusted certificate', async () => {
    const client = createCallbackClient({ guard: createAddressGuard(LOOPBACK) });
    opened.push(client);
    const result = await client.post({ url: receiver.url, body, headers });
    expect(result.error).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(receiver.received).toHaveLength(0);
  });

  it('may have a certificate for another name', async () => {
    const client = open({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const result = await client.post({ url: `https://other.test:${receiver.port}/`, body, headers });
    expect(result.error).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(receiver.received).toHaveLength(0);
  });

  it('may have a name without an address', async () => {
    const client = open({ resolve: async () => [] });
    expect(await client.post({ url: 'https://shop.test/', body, headers })).toMatchObject({ error: 'ENOTFOUND' });
  });
});

describe('an address that must not be dialled', () => {
  const loopback = { address: '127.0.0.1', family: 4 };

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])(
    'is refused: %s',
    async (host) => {
      const result = await open({ allow: '' }).post({ url: `https://${host}:${receiver.port}/`, body, headers });
      expect(result.error).toContain('is refused');
      expect(result.timedOut).toBeUndefined();
      expect(receiver.connections()).toBe(0);
    },
  );

  it('is refused when a name resolves to it', async () => {
    const client = open({ allow: '', resolve: async () => [loopback] });
    const result = await client.post({ url: `https://shop.test:${receiver.port}/`, body, headers });
    expect(result).toMatchObject({ error: 'the address is refused (loopback)', address: '127.0.0.1' });
    expect(receiver.connections()).toBe(0);
  });

  it('is left out when a name also resolves to others', async () => {
    const client = open({
      allow: '127.0.0.1/32',
      resolve: async () => [{ address: '127.0.0.2', family: 4 }, { address: '::1', family: 6 }, loopback],
    });
    const result = await client.post({ url: `https://shop.test:${receiver.port}/`, body, headers });
    expect(result).toMatchObject({ httpStatus: 200, address: '127.0.0.1' });
  });

  it('is checked for every connection, not once per name', async () => {
    const answers = [[loopback], [{ address: '10.0.0.1', family: 4 }]];
    const client = open({ resolve: async () => answers.shift() ?? [] });
    receiver.answer((_received, response) => void response.writeHead(200, { connection: 'close' }).end('OK'));
    const url = `https://shop.test:${receiver.port}/`;
    expect(await client.post({ url, body, headers })).toMatchObject({ httpStatus: 200 });
    expect(await client.post({ url, body, headers })).toMatchObject({
      error: 'the address is refused (private)',
      address: '10.0.0.1',
    });
  });

  it.each([0, 22, 6667])('is refused at port %d, which speaks another protocol', async (port) => {
    expect(await open().post({ url: `https://127.0.0.1:${port}/`, body, headers })).toMatchObject({
      error: 'the port of the address is refused',
    });
  });

  it('is refused over plain http in any case', async () => {
    expect(await open().post({ url: 'http://127.0.0.1/', body, headers })).toMatchObject({
      error: 'the address is not https',
    });
  });

  it('can be opened by name as well as by number', async () => {
    const client = open();
    expect(await client.post({ url: `https://localhost:${receiver.port}/`, body, headers })).toMatchObject({
      httpStatus: 200,
    });
  });
});
