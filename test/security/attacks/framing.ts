import type { Body } from '../../support/system';
import { CARD_PATH, cardRequest, checkOf, CREDENTIALS, recordsOf } from '../../support/system';
import { talk } from '../talk';
import type { World } from '../world';

const HEADER_KIB = 1024;

/** A request whose end a server and a proxy before it may see in different places. */
interface Framing {
  what: string;
  /** Lines of the head after the request line and `Host`. */
  head: string;
  /** Puts the body on the wire; default: as it is. */
  wire?: (body: string) => string;
}

const json = 'Content-Type: application/json\r\n';
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** The body is a whole request of its own. */
const AMBIGUOUS: readonly Framing[] = [
  { what: 'length and chunks', head: 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', wire: chunk },
  { what: 'chunks and length', head: 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', wire: chunk },
  { what: 'two hosts', head: 'Host: shop.example\r\nContent-Length: 0\r\n' },
  { what: 'two hosts, one of them empty', head: 'HOST:\r\nContent-Length: 0\r\n' },
  { what: 'two lengths', head: 'Content-Length: 0\r\nContent-Length: 5\r\n' },
  { what: 'a list of lengths', head: 'Content-Length: 0, 5\r\n' },
  { what: 'a negative length', head: 'Content-Length: -1\r\n' },
  { what: 'a length with a sign', head: 'Content-Length: +0\r\n' },
  { what: 'a hexadecimal length', head: 'Content-Length: 0x0\r\n' },
  { what: 'a length with a space in it', head: 'Content-Length: 1 0\r\n' },
  { what: 'a length beyond 64 bits', head: 'Content-Length: 18446744073709551616\r\n' },
  { what: 'a space before the colon', head: 'Content-Length : 0\r\n' },
  { what: 'an unknown coding', head: 'Transfer-Encoding: xchunked\r\n' },
  { what: 'a coding before the chunks', head: 'Transfer-Encoding: gzip, chunked\r\n', wire: chunk },
  { what: 'chunks that are not last', head: 'Transfer-Encoding: chunked, identity\r\n' },
  { what: 'a coding with a control character', head: 'Transfer-Encoding: \u000bchunked\r\n', wire: chunk },
  { what: 'a coding over two lines', head: 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n', wire: chunk },
  {
    what: 'a chunk of a negative size',
    head: 'Transfer-Encoding: chunked\r\n',
    wire: (body) => `-1\r\n${body}\r\n0\r\n\r\n`,
  },
  { what: 'a chunk of a size in 0x', head: 'Transfer-Encoding: chunked\r\n', wire: (body) => `0x${chunk(body)}` },
  {
    what: 'a chunk beyond 64 bits',
    head: 'Transfer-Encoding: chunked\r\n',
    wire: (body) => `fffffffffffffffff\r\n${body}`,
  },
  {
    what: 'a chunk longer than its size',
    head: 'Transfer-Encoding: chunked\r\n',
    wire: (body) => `1\r\n${body}\r\n0\r\n\r\n`,
  },
  {
    what: 'a line feed in a chunk extension',
    head: 'Transfer-Encoding: chunked\r\n',
    wire: (body) => `${body.length.toString(16)};a\nb\r\n${body}\r\n0\r\n\r\n`,
  },
  { what: 'line feeds alone', head: 'X-Lines: alone\nContent-Length: 4\n' },
  { what: 'a carriage return alone', head: 'X-Lines: a\rContent-Length: 4\r\n' },
  { what: 'NUL in a header', head: 'X-Nul: a\u0000b\r\nContent-Length: 0\r\n' },
  { what: 'a header without a name', head: ': nothing\r\nContent-Length: 0\r\n' },
  { what: 'a header without a colon', head: 'Content-Length\r\n' },
  { what: 'a header of 64 KiB', head: `X-Long: ${'x'.repeat(64 * HEADER_KIB)}\r\nContent-Length: 0\r\n` },
];

/** Whole heads that are no request of HTTP/1.1. */
const NOT_HTTP: readonly [what: string, head: string][] = [
  ['nothing', '\r\n\r\n\r\n'],
  ['HTTP/0.9', `GET ${CARD_PATH}\r\n\r\n`],
  ['HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/9.9', `POST ${CARD_PATH} HTTP/9.9\r\nHost: x\r\n\r\n`],
  ['an unknown method', `HACK ${CARD_PATH} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['no host', `POST ${CARD_PATH} HTTP/1.1\r\n\r\n`],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  ['a NUL in the path', `POST /\u0000 HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['a tunnel', 'CONNECT 127.0.0.2:22 HTTP/1.1\r\nHost: 127.0.0.2:22\r\n\r\n'],
];

const statusesIn = (received: string): number[] =>
  [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));

/** Requests whose length is ambiguous, and bytes that are no HTTP, on connections of their own. */
export function attackFraming(world: () => World): void {
  const targets = () =>
    [
      [world().ports.PORT, CARD_PATH],
      [world().ports.THREEDS_PORT, '/3ds/results'],
    ] as const;

  test.each(AMBIGUOUS)('$what: refused, and what is hidden in the body does not run', async ({ head, wire }) => {
    const hidden: Body = { ...CREDENTIALS, ...cardRequest('SALE') };
    const text = JSON.stringify(hidden);
    const smuggled = `POST ${CARD_PATH} HTTP/1.1\r\nHost: x\r\n${json}Content-Length: ${text.length}\r\n\r\n${text}`;
    for (const [port, path] of targets()) {
      const request = `POST ${path} HTTP/1.1\r\nHost: x\r\n${json}${head}\r\n${(wire ?? String)(smuggled)}`;
      const received = await talk(port, request);
      world().answers.push(received);
      expect(statusesIn(received).length).toBeLessThanOrEqual(1);
      for (const status of statusesIn(received)) expect([400, 413, 431]).toContain(status);
    }
    const found = await world().send(checkOf({ transaction_unique_id: hidden['transaction_unique_id'] }));
    expect([found['code'], recordsOf(found)]).toEqual([3014, []]);
  });

  test.each([
    ['an amount twice', '{"amount":"99.00",'],
    ['an amount twice, once escaped', '{"am\\u006funt":"99.00",'],
    ['an account twice', '{"merchant_account":"another_account",'],
  ])('%s in JSON: refused, and neither is charged', async (_what, beginning) => {
    const fields: Body = { ...CREDENTIALS, ...cardRequest('SALE') };
    const body = JSON.stringify(fields).replace('{', beginning);
    const answer = await world().exchange(world().ports.PORT, { path: CARD_PATH, body });
    expect(JSON.parse(answer.text)).toMatchObject({ status: 'error', code: 1001 });
    const found = await world().send(checkOf({ transaction_unique_id: fields['transaction_unique_id'] }));
    expect([found['code'], recordsOf(found)]).toEqual([3014, []]);
  });

  test.each(NOT_HTTP)('%s: refused or hung up', async (_what, head) => {
    for (const [port] of targets()) {
      const received = await talk(port, head);
      for (const status of statusesIn(received)) expect([400, 404, 405, 408, 505]).toContain(status);
    }
  });

  test('after all this, the ports answer as before', async () => {
    expect(await world().send(cardRequest('SALE'))).toMatchObject({ status: 'success', code: 0 });
    const page = await world().exchange(world().ports.THREEDS_PORT, { method: 'GET', path: '/challenge/none' });
    expect(page.status).toBe(404);
  });
}
