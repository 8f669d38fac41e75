import { Agent } from 'node:http';
import fc from 'fast-check';
import { RESPONSE_CODES, TEST_CARDS } from '@gateway/contracts';
import type { TextAnswer } from '../../support/http';
import { PAYOUT_PATH, payout, QUERY_PATH, STATUS_PATH } from '../../support/payouts';
import type { Document } from '../../support/storage';
import type { Body } from '../../support/system';
import { CARD_PATH, cardRequest, checkOf, CREDENTIALS, followUp, tokenRequest } from '../../support/system';
import { readTopics } from '../../support/topics';
import { deadLetterTopics } from '../places';
import type { World } from '../world';

const BODIES = 10_000;
/** Sent at once: below what admission refuses. */
const BATCH = 20;
/** Admission may refuse some bodies (429, 503) when the machine is slow, but few: refused ones test nothing. */
const REFUSED_MAX = BODIES / 100;

/** Requests that would be accepted as they are. The fuzzer changes some of their fields. */
const TEMPLATES: readonly (readonly [path: string, fields: () => Body])[] = [
  [CARD_PATH, () => cardRequest('SALE')],
  [CARD_PATH, () => cardRequest('AUTH')],
  [CARD_PATH, () => cardRequest('AUTH3D', { card_number: TEST_CARDS.frictionless.visa })],
  [
    CARD_PATH,
    () => cardRequest('SALE3D', { callback_url: 'https://localhost:65535/', redirect_url: 'https://localhost:65535/' }),
  ],
  [CARD_PATH, () => tokenRequest('SALE', '00000000-0000-0000-0000-000000000000')],
  [CARD_PATH, () => followUp('SETTLE', 'A'.repeat(20))],
  [CARD_PATH, () => followUp('VOID', 'A'.repeat(20))],
  [CARD_PATH, () => followUp('REFUND', 'A'.repeat(20))],
  [CARD_PATH, () => checkOf({ reference: 'A'.repeat(20) })],
  ['/api/pf/checkout', () => ({ ...tokenRequest('SALE', undefined), redirect_url: 'https://localhost:65535/' })],
  ['/api/pf/callbacks', () => ({ reference: 'A'.repeat(20), time_from: 0, limit: 1, cursor: '1:a' })],
  ['/api/pf/callbacks/events', () => ({ cursor: '1:a', wait: 0, limit: 1 })],
  ['/api/pf/checkout/expire', () => ({ transaction_unique_id: 'no-such-page' })],
  ['/api/pf/callbacks/resend', () => ({ callback_id: 'a-callback' })],
  [PAYOUT_PATH, () => payout()],
  [STATUS_PATH, () => checkOf({ transaction_unique_id: 'some-payout' })],
  [QUERY_PATH, () => ({ qod_type: 'transactions', time_from: 0, time_to: 1 })],
  [`${QUERY_PATH}/ra`, () => ({ qod_type: 'transactions', time_from: 0, time_to: 1, limit: 1 })],
];

const OPERATORS = ['$ne', '$gt', '$in', '$regex', '$where', '$expr', '$function', '$set', '$exists', '$or', '$comment'];
const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON', 'length'];
const NAMES = [
  'a.b',
  'card.number',
  'amount[$ne]',
  'amount[]',
  'custom_a',
  'custom_$where',
  'custom___proto__',
  '',
  '\u0000',
  ' ',
];

const leaf = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e400',
    'null',
    '{"$gt":""}',
    "' || 1==1 //",
    '../../etc/passwd',
    '\ud800',
    '%00',
    '१२',
  ),
  fc.nat(300).map((length) => 'x'.repeat(length)),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const object = fc.dictionary(fc.constantFrom(...OPERATORS, ...INHERITED), leaf, { minKeys: 1, maxKeys: 3 });
const value = fc.oneof(leaf, object, fc.array(fc.oneof(leaf, object), { maxLength: 4 }), fc.jsonValue({ maxDepth: 4 }));
const foreignName = fc.oneof(
  fc.constantFrom(...OPERATORS, ...INHERITED, ...NAMES),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

type Field = readonly [name: string, value: unknown];

interface Fuzzed {
  path: string;
  type: string;
  body: Buffer;
}

/** Some fields of a template replaced, removed, repeated or joined by others. */
const changed = fc.nat(TEMPLATES.length - 1).chain((index) => {
  const [path, fieldsOf] = TEMPLATES[index] ?? ['', () => ({})];
  const names = Object.keys({ ...CREDENTIALS, ...fieldsOf() });
  const ownChange = fc.tuple(fc.constantFrom(...names), fc.option(value, { nil: undefined }));
  const change = fc.oneof({ weight: 3, arbitrary: ownChange }, { weight: 1, arbitrary: fc.tuple(foreignName, value) });
  return fc.record({
    path: fc.constant(path),
    fieldsOf: fc.constant(fieldsOf),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  });
});

const structured = fc.tuple(changed, fc.boolean()).map(([{ path, fieldsOf, changes }, asForm]): Fuzzed => {
  const replaced = new Set(changes.map(([name]) => name));
  const kept = Object.entries({ ...CREDENTIALS, ...fieldsOf() }).filter(([name]) => !replaced.has(name));
  const fields: Field[] = [...kept, ...changes].filter(([, given]) => given !== undefined);
  return asForm
    ? { path, type: 'application/x-www-form-urlencoded', body: Buffer.from(formText(fields)) }
    : { path, type: 'application/json', body: Buffer.from(jsonText(fields)) };
});

/** Bytes without any form, and bodies that are cut off or damaged. */
const damaged = fc
  .tuple(structured, fc.double({ min: 0, max: 1, noNaN: true }), fc.uint8Array({ maxLength: 8 }))
  .map(([{ path, type, body }, part, bytes]): Fuzzed => {
    const at = Math.floor(body.length * part);
    return { path, type, body: Buffer.concat([body.subarray(0, at), bytes, body.subarray(at + bytes.length)]) };
  });
const shapeless = fc
  .tuple(
    fc.constantFrom(...TEMPLATES),
    fc.uint8Array({ maxLength: 2_000 }),
    fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain', ''),
  )
  .map(([[path], bytes, type]): Fuzzed => ({ path, type, body: Buffer.from(bytes) }));

const fuzzed = fc.oneof(
  { weight: 7, arbitrary: structured },
  { weight: 2, arbitrary: damaged },
  { weight: 1, arbitrary: shapeless },
);

/** By hand: an object literal would lose `__proto__` and repeated names. */
function jsonText(fields: readonly Field[]): string {
  return `{${fields.map(([name, given]) => `${JSON.stringify(name)}:${JSON.stringify(given) ?? 'null'}`).join(',')}}`;
}

/** Objects as query parsers spell them: `amount[$ne]=1`. */
function formText(fields: readonly Field[]): string {
  const pairs = fields.flatMap(([name, given]) =>
    typeof given === 'object' && given !== null
      ? Object.entries(given).map(([key, inner]) => [`${name}[${key}]`, inner] as const)
      : [[name, given] as const],
  );
  return pairs.map(([name, given]) => `${escaped(name)}=${escaped(asText(given))}`).join('&');
}

/** Objects here may have any `toString`. */
const asText = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given));
const escaped = (text: string): string => encodeURIComponent(text.toWellFormed());

/** 10,000 bodies that were never meant to be sent, and what they leave behind. */
export function attackBodies(world: () => World, seed: number): void {
  test(`${BODIES} fuzzed bodies (SECURITY_SEED=${seed}) get an answer of the interface`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: BATCH });
    const codes = new Map<unknown, number>();
    let sent = 0;
    let refused = 0;

    async function send({ path, type, body }: Fuzzed): Promise<void> {
      // Each from a source of its own: wrong credentials would get one throttled.
      sent += 1;
      const headers = { 'content-type': type, 'x-forwarded-for': `198.18.${sent >> 8}.${sent & 255}` };
      const answer = await world().exchange(world().ports.PORT, { path, headers, body, agent });
      if (answer.status === 429 || answer.status === 503) refused += 1;
      else expectRefusalOrOutcome(answer);
      const { code } = JSON.parse(answer.text) as Body;
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }

    const batch = fc.array(fuzzed, { minLength: BATCH, maxLength: BATCH });
    const property = fc.asyncProperty(batch, async (bodies) => void (await Promise.all(bodies.map(send))));
    await fc.assert(property, {
      numRuns: BODIES / BATCH,
      seed,
      interruptAfterTimeLimit: 170_000,
      markInterruptAsFailure: true,
    });
    agent.destroy();
    process.stdout.write(
      `Codes of ${BODIES} fuzzed bodies: ${[...codes].map(([code, count]) => `${String(code)}: ${count}`).join(', ')}\n`,
    );
    expect(refused).toBeLessThan(REFUSED_MAX);
    expect(codes.get(0)).toBeGreaterThan(BODIES / 100);
    expect(codes.get(RESPONSE_CODES.FIELD_INVALID)).toBeGreaterThan(BODIES / 100);
  }, 180_000);

  test('no service has ended, and the edge reports no fault', () => {
    for (const [name, service] of world().services) expect([name, service.isRunning()]).toEqual([name, true]);
    const output = world().services.get('api-edge')?.output() ?? '';
    expect(output.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test('nothing that was accepted was too much for the services behind the edge', async () => {
    expect(await readTopics(world().surroundings.space, deadLetterTopics(world()))).toEqual([]);
  });

  test('no collection holds a name that means something to MongoDB or JavaScript', async () => {
    const suspicious: string[] = [];
    for (const [place, documents] of await world().storage.everything()) {
      for (const name of documents.flatMap(namesIn)) if (isSuspicious(name)) suspicious.push(`${name} in ${place}`);
    }
    expect(suspicious).toEqual([]);
  });

  test('an ordinary answer has the fields that it had before', async () => {
    const answer = await world().send(cardRequest('SALE'));
    expect(Object.keys(answer).sort()).toEqual([
      'api_version',
      'authcode',
      'code',
      'merchant_account',
      'message',
      'reference',
      'sessionid',
      'status',
      'timestamp',
      'token',
      'transaction_unique_id',
    ]);
    expect(answer).toMatchObject({ status: 'success', code: 0 });
  });
}

function expectRefusalOrOutcome({ status, headers, text }: TextAnswer): void {
  expect([200, 413, 415]).toContain(status);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(JSON.parse(text)).not.toMatchObject({ code: RESPONSE_CODES.INTERNAL_ERROR });
}

function isSuspicious(name: string): boolean {
  return name.startsWith('$') || name.includes('\u0000') || INHERITED.slice(0, 3).includes(name);
}

/** The names of all fields, however deep. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value) || value instanceof Date) return [];
  if ('_bsontype' in value) return [];
  return Object.entries(value as Document).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}
