import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HostilePlace } from './hostile-requests';
import { asHeader, disproportionsOf, jsonPlaces } from './hostile-requests';
import type { Certificate } from './https-server';

/** JSON with which a counterpart answers. It is understood, and its texts are the places for hostile ones. */
export type ExampleAnswers = Readonly<Record<string, unknown>>;

/** The calls of a connector, by the names of their answers. */
export interface ExampleCalls {
  readonly calls: Readonly<Record<string, () => Promise<unknown>>>;
  close(): void;
}

export interface RawAnswer {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Every answer may have them. */
const HEADERS = ['content-type', 'date', 'location', 'retry-after', 'set-cookie', 'x-other'];
const JSON_TYPE = { 'content-type': 'application/json' };

/** Every place of an answer that its sender fills: headers, and names and values of the body. */
export function hostileAnswerPlaces(json: unknown): HostilePlace<RawAnswer>[] {
  const body = JSON.stringify(json);
  const bodies = [['the body', (text: string) => text] as const, ...jsonPlaces(json)];
  return [
    ...HEADERS.map((name): HostilePlace<RawAnswer> => ({
      name: `header ${name}`,
      part: 'head',
      message: (text) => ({ body, headers: { ...JSON_TYPE, [name]: asHeader(text) } }),
    })),
    ...bodies.map(([name, of]): HostilePlace<RawAnswer> => ({
      name,
      part: 'body',
      message: (text) => ({ body: of(text), headers: JSON_TYPE }),
    })),
  ];
}

const DEPTH = 100_000;
/** Values that convert to numbers and texts of our own, or throw when they are converted. */
const ODD_VALUES = [
  ...['null', 'true', '0', '-0', '1e400', '""', '{}', '[]', '[3101]', '"0xc1d"', '{"toString":1,"valueOf":1}'],
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
];

/** The answer with each of them in each place of a text, and in the place of all. */
function oddAnswers(json: unknown): string[] {
  const bodies = [(text: string) => JSON.stringify(text), ...jsonPlaces(json).map(([, of]) => of)];
  const mark = 'the place';
  return bodies.flatMap((of) => ODD_VALUES.map((odd) => of(mark).replace(JSON.stringify(mark), odd)));
}

/** A counterpart on this machine, which answers every request as it is told. */
export interface ToldCounterpart {
  readonly url: string;
  /** What a call makes of an answer. */
  answering<Result>(answer: RawAnswer | string, call: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** @param certificate of a counterpart that is called over TLS */
export async function startCounterpart(certificate?: Certificate): Promise<ToldCounterpart> {
  let told: RawAnswer = { headers: JSON_TYPE, body: '' };
  const listener: RequestListener = (request, response) => {
    request.resume();
    response.writeHead(200, told.headers).end(told.body);
  };
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const scheme = certificate === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answering(answer, call) {
      told = typeof answer === 'string' ? { headers: JSON_TYPE, body: answer } : answer;
      return call();
    },
    async close() {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

/**
 * What is wrong with how a call reads answers: places where a hostile text costs more than its length explains, and odd
 * answers at which the reader throws.
 */
export async function faultsOfReading(
  counterpart: ToldCounterpart,
  json: unknown,
  call: () => Promise<unknown>,
): Promise<object[]> {
  const statusOf = (answer: RawAnswer | string): Promise<number> =>
    counterpart.answering(answer, call).then(
      () => 200,
      () => 500,
    );
  const found: object[] = [];
  for (const place of hostileAnswerPlaces(json)) {
    for (const fault of await disproportionsOf(place, statusOf)) found.push({ place: place.name, ...fault });
  }
  for (const odd of oddAnswers(json)) if ((await statusOf(odd)) !== 200) found.push({ odd: odd.slice(0, 200) });
  return found;
}
