import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as open } from 'node:http';
import { countWork } from './counted-work';
import { HOSTILE_TEXTS } from './hostile-texts';

/** A request that is accepted as far as its texts are concerned. Its values are the places for hostile texts. */
export interface ExampleRequest {
  method: 'GET' | 'POST';
  /** Each segment is a place. */
  path: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** The body, as a form or as JSON. */
  form?: Readonly<Record<string, string>>;
  json?: unknown;
  /** Headers that follow from the body, such as its signature. */
  seal?(body: string): Readonly<Record<string, string>>;
}

export interface RawRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** A place of a message, with the message that has a text there. */
export interface HostilePlace<Message = RawRequest> {
  name: string;
  /** `head`: in a line or header, which Node bounds together by 16 KiB. */
  part: 'head' | 'body';
  message(text: string): Message;
}

const FORM = 'application/x-www-form-urlencoded';
/** Every request may have them. */
const COMMON_HEADERS = [
  'accept-language',
  'content-type',
  'cookie',
  'origin',
  'user-agent',
  'x-forwarded-for',
  'x-other',
];

function withBody({ headers, form, seal }: ExampleRequest, body: string | undefined) {
  const typed = { 'content-type': form === undefined ? 'application/json' : FORM, ...headers };
  return body === undefined ? { headers: typed } : { headers: { ...typed, ...seal?.(body) }, body };
}

/** The request as it is. */
export function exampleRequest(example: ExampleRequest): RawRequest {
  const { method, path, query, form, json } = example;
  const body = form === undefined ? jsonBody(json) : formOf(Object.entries(form));
  return { method, path: path + searchOf(query), ...withBody(example, body) };
}

/** Every place of a request that its sender fills: segments, query, headers, and names and values of the body. */
export function hostilePlaces(example: ExampleRequest): HostilePlace[] {
  const { method, path, query = {}, form, json } = example;
  const usual = exampleRequest(example);
  const { headers } = usual;
  const head = (name: string, message: HostilePlace['message']): HostilePlace => ({ name, part: 'head', message });
  const body = (name: string, of: (text: string) => string): HostilePlace => ({
    name,
    part: 'body',
    message: (text) => ({ ...usual, ...withBody(example, of(text)) }),
  });
  const segments = path.split('/').slice(1);
  return [
    ...segments.map((segment, at) =>
      head(`segment ${segment}`, (text) => ({
        ...usual,
        path: `/${segments.with(at, asSegment(text)).join('/')}${searchOf(query)}`,
      })),
    ),
    ...[...Object.keys(query), 'other'].map((name) =>
      head(`query ${name}`, (text) => ({ ...usual, path: path + searchOf({ ...query, [name]: text }) })),
    ),
    head('a name in the query', (text) => ({ ...usual, path: path + searchOf({ ...query, [text]: 'a' }) })),
    head('the query', (text) => ({ ...usual, path: `${path}?${asSegment(text)}` })),
    ...[...new Set([...Object.keys(headers), ...COMMON_HEADERS])].map((name) =>
      head(`header ${name}`, (text) => ({ ...usual, headers: { ...headers, [name]: asHeader(text) } })),
    ),
    ...(method === 'GET' ? [] : [body('the body', (text) => text)]),
    ...formPlaces(form).map(([name, of]) => body(name, of)),
    ...jsonPlaces(json).map(([name, of]) => body(name, of)),
  ];
}

type Place = readonly [name: string, bodyOf: (text: string) => string];

function formPlaces(form: ExampleRequest['form']): Place[] {
  if (form === undefined) return [];
  const entries = Object.entries(form);
  return [
    ...entries.map(([name], at): Place => [
      `field ${name}`,
      (text) => withText(formOf(entries.toSpliced(at, 1)), `${name}=${asSegment(text)}`),
    ]),
    ['a name of a field', (text) => withText(formOf(entries), `${asSegment(text)}=a`)],
  ];
}

/** Every text of a JSON document, and a name. */
export function jsonPlaces(json: unknown): Place[] {
  if (json === undefined) return [];
  return [
    ...leavesOf(json).map((path): Place => [
      `field ${path.join('.')}`,
      (text) => JSON.stringify(replaced(json, path, text)),
    ]),
    ['a name of a field', (text) => JSON.stringify({ ...(json as object), [text]: 'a' })],
  ];
}

const withText = (others: string, pair: string): string => (others === '' ? pair : `${others}&${pair}`);

function leavesOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
}

function replaced(value: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text;
  const fields = value as Record<string, unknown>;
  return { ...fields, [name]: replaced(fields[name], rest, text) };
}

function jsonBody(json: unknown): string | undefined {
  return json === undefined ? undefined : JSON.stringify(json);
}

function searchOf(query: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(query).map(([name, value]) => `${asSegment(name)}=${asSegment(value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function formOf(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

/** A text's own length in the line of the request; its escapes may end half-way. */
function asSegment(text: string): string {
  return encodeURIComponent(text).slice(0, text.length);
}

/** As the bytes that are sent. */
export function asHeader(text: string): string {
  return Buffer.from(text).toString('latin1').slice(0, text.length);
}

/** Divided by 12, so that escapes of two-byte characters in pairs end where a text is cut. */
const LENGTHS = { head: [2_400, 4_800, 9_600], body: [7_200, 14_400, 28_800] } as const;

/** The work for messages with a hostile text at a place: of a length, twice as long, and four times as long. */
async function worksOf<Message>(
  { part, message }: HostilePlace<Message>,
  of: (length: number) => string,
  send: (message: Message) => Promise<number>,
): Promise<{ works: number[]; statuses: number[] }> {
  const works: number[] = [];
  const statuses: number[] = [];
  for (const length of LENGTHS[part]) {
    const hostile = message(of(length));
    works.push(await countWork(async () => statuses.push(await send(hostile))));
  }
  return { works, statuses };
}

/** What the line and the headers of a message cost, whatever is in them. */
const FIXED_WORK = 512;

/** The hostile texts that cost more at a place than their length explains, or end in a fault of the service. */
export async function disproportionsOf<Message>(
  place: HostilePlace<Message>,
  send: (message: Message) => Promise<number>,
): Promise<{ what: string; works: number[]; statuses: number[] }[]> {
  const found: { what: string; works: number[]; statuses: number[] }[] = [];
  for (const [what, of] of Object.entries(HOSTILE_TEXTS)) {
    const { works, statuses } = await worksOf(place, of, send);
    const [first = 0, second = 0, third = 0] = works;
    const isLinear = second <= 2 * first + FIXED_WORK && third <= 4 * first + FIXED_WORK;
    if (!isLinear || Math.max(...statuses) >= 500) found.push({ what, works, statuses });
  }
  return found;
}

/** Sends requests to a port of this machine, one after the other on a connection. */
export function senderTo(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    /** @returns the status */
    async send({ body, ...options }: RawRequest): Promise<number> {
      const request = open({ host: '127.0.0.1', port, agent, ...options });
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response.statusCode ?? 0;
    },
    close: () => agent.destroy(),
  };
}
