import type { IHeaders, KafkaMessage } from 'kafkajs';

/** An event as it is stored. Its coordinates in Kafka come from the batch. */
export interface Event {
  readonly offset: bigint;
  readonly id: string;
  readonly type: string;
  readonly source: string | undefined;
  readonly timeMs: number;
  readonly subject: string;
  readonly version: bigint;
  readonly correlationId: string | undefined;
  readonly causationId: string | undefined;
  /** JSON of the headers that have no column of their own. */
  readonly headers: string;
  /** The JSON text as it came. */
  readonly data: string;
}

/** A message that is not an event as docs/messages.md describes them. Kept as it came. */
export interface Unreadable {
  readonly offset: bigint;
  readonly problem: string;
  readonly key: Uint8Array | null;
  readonly headers: string;
  readonly value: Uint8Array | null;
}

export type Message = Event | Unreadable;

export function isUnreadable(message: Message): message is Unreadable {
  return 'problem' in message;
}

/** A record of the gateway has a few hundred events at most: a larger number is a defect, not a gap. */
const MAX_VERSION = 1_000_000;
/** Money in 1/10000 of the currency. A fraction would be rounded on its way into a DECIMAL. */
const AMOUNTS = ['amountE4', 'feeE4'];
const COLUMNS = new Set([
  'ce_id',
  'ce_type',
  'ce_source',
  'ce_time',
  'ce_subject',
  'ce_aggregateversion',
  'ce_correlationid',
  'ce_causationid',
]);

class Problem extends Error {}

/** Never throws: whatever cannot be read is kept with the reason. */
export function readMessage(message: KafkaMessage): Message {
  const offset = BigInt(message.offset);
  const headers = textsOf(message.headers ?? {});
  try {
    const required = (name: string): string => headers[name] || fail(`header ${name} is missing`);
    return {
      offset,
      id: required('ce_id'),
      type: required('ce_type'),
      source: headers['ce_source'],
      timeMs: timeOf(headers['ce_time'], message.timestamp),
      subject: required('ce_subject'),
      version: versionOf(required('ce_aggregateversion')),
      correlationId: headers['ce_correlationid'],
      causationId: headers['ce_causationid'],
      headers: JSON.stringify(Object.fromEntries(Object.entries(headers).filter(([name]) => !COLUMNS.has(name)))),
      data: dataOf(message.value),
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { key, value } = message;
    return { offset, problem: error.message, key, headers: JSON.stringify(headers), value };
  }
}

function fail(problem: string): never {
  throw new Problem(problem);
}

function textsOf(headers: IHeaders): Record<string, string> {
  const texts = Object.entries(headers).flatMap(([name, value]) => {
    const last = Array.isArray(value) ? value.at(-1) : value;
    return last === undefined ? [] : [[name.toWellFormed(), String(last).toWellFormed()] as const];
  });
  return Object.fromEntries(texts);
}

function timeOf(time: string | undefined, timestamp: string): number {
  const parsed = Date.parse(time ?? '');
  return Number.isNaN(parsed) ? Number(timestamp) : parsed;
}

function versionOf(text: string): bigint {
  const version = Number(text);
  if (!/^\d{1,7}$/.test(text) || version < 1 || version > MAX_VERSION) {
    fail(`header ce_aggregateversion is not a number from 1 to ${MAX_VERSION}`);
  }
  return BigInt(version);
}

function dataOf(value: Buffer | null): string {
  const { text, data } = parsed(value);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) fail('the value is not a JSON object');
  for (const name of AMOUNTS) {
    const amount = (data as Record<string, unknown>)[name];
    if (amount !== undefined && !(Number.isSafeInteger(amount) && Number(amount) >= 0)) {
      fail(`${name} is not a whole number of 1/10000`);
    }
  }
  return text;
}

function parsed(value: Buffer | null): { text: string; data: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value ?? Buffer.alloc(0));
    return { text, data: JSON.parse(text, acceptable) as unknown };
  } catch {
    // The parser's own message quotes the text.
    return fail('the value is not JSON');
  }
}

/** JSON.parse accepts halves of characters and numbers beyond a double, which DuckDB does not. */
function acceptable(name: string, value: unknown): unknown {
  const isText = typeof value !== 'string' || value.isWellFormed();
  const isNumber = typeof value !== 'number' || Number.isFinite(value);
  if (!name.isWellFormed() || !isText || !isNumber) throw new SyntaxError('not a value that every reader has');
  return value;
}
