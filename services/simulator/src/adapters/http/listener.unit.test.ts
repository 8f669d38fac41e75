import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { ListeningServer } from '@gateway/service-kit';
import { createBodyReader, listen } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import type { HttpListener } from './listener';
import { createHttpListener, json } from './listener';

let site: HttpListener;
let server: ListeningServer;

type Options = Parameters<typeof createHttpListener>[0];

async function open(options: Partial<Options> & Pick<Options, 'routes'>): Promise<string> {
  const needed = { bodies: createBodyReader(), latencyMs: 0, silenceMs: 1_000, logger: silentLogger };
  site = createHttpListener({ ...needed, ...options });
  server = await listen({ listener: site.listener, port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${server.port}`;
}

afterEach(async () => {
  await server.close(0);
  await site.stop();
});

test('a body leaves the budget of bodies with its answer', async () => {
  const limits = { max: 10, maxPerSource: 10, maxBytes: 1_000, maxBytesPerSource: 1_000 };
  const url = await open({
    routes: [{ method: 'POST', path: '/echo', callers: [], handle: async ({ json: body }) => json(200, await body()) }],
    bodies: createBodyReader(limits),
  });
  const body = JSON.stringify({ text: 'x'.repeat(400) });
  for (let times = 0; times < 10; times += 1) {
    const answer = await fetch(`${url}/echo`, { method: 'POST', body });
    expect([answer.status, await answer.text()]).toEqual([200, body]);
  }
});

describe('on a public port', () => {
  const PAGE = '/page';
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  /** Whose turn has been asked for, and how the waits end. */
  let asked: string[];
  let turn: Promise<boolean>;
  let handled: number;

  beforeEach(() => {
    asked = [];
    turn = Promise.resolve(true);
    handled = 0;
  });

  const openPages = (options: Partial<Options> = {}): Promise<string> =>
    open({
      routes: [
        {
          method: 'POST',
          path: PAGE,
          callers: 'browsers',
          async handle({ form }) {
            handled += 1;
            return json(200, Object.fromEntries([...(await form())].map(([name, text]) => [name, text.start(10)])));
          },
        },
      ],
      pace: {
        take(address) {
          asked.push(address);
          return turn;
        },
      },
      ...options,
    });

  const REQUESTS: readonly [what: string, path: string, init: RequestInit, status: number][] = [
    ['a page', PAGE, { method: 'POST', headers: FORM, body: 'a=b' }, 200],
    ['another address', '/nowhere', {}, 404],
    ['another address, with a body', '/nowhere', { method: 'POST', body: 'a=b' }, 404],
    ['another method', PAGE, { method: 'DELETE' }, 405],
    ['a body that is no form', PAGE, { method: 'POST', body: '{}' }, 415],
    ['a body that is too large', PAGE, { method: 'POST', headers: FORM, body: 'a'.repeat(65 * 1024) }, 413],
  ];

  test.each(REQUESTS)('%s keeps the pace once', async (_what, path, init, status) => {
    const url = await openPages();
    expect((await fetch(url + path, init)).status).toBe(status);
    expect(asked).toEqual(['127.0.0.1']);
  });

  test.each(REQUESTS)('%s beyond the pace is refused before it is looked up', async (_what, path, init) => {
    turn = Promise.resolve(false);
    const url = await openPages();
    expect((await fetch(url + path, init)).status).toBe(429);
    expect(handled).toBe(0);
  });

  test('clients behind a trusted proxy keep a pace each', async () => {
    const url = await openPages({ trustedProxies: ['127.0.0.1'] });
    for (const client of ['192.0.2.1', '192.0.2.2']) await fetch(url, { headers: { 'x-forwarded-for': client } });
    expect(asked).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('whoever waits, or leaves while it waits, keeps nobody out', async () => {
    let go = (isOfPace: boolean): void => void isOfPace;
    turn = new Promise((resolve) => (go = resolve));
    const url = await openPages({ concurrentMax: 1 });
    const accepted = once(server.server, 'connection') as Promise<[Socket]>;
    const leaving = connect(server.port, '127.0.0.1');
    leaving.write('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
    const waiting = fetch(`${url}/nowhere`);
    await until('both wait', () => asked.length === 2);
    const [connection] = await accepted;
    const left = once(connection, 'close');
    leaving.destroy();
    await left;
    turn = Promise.resolve(true);
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    go(true);
    expect((await waiting).status).toBe(404);
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
});
