import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { finalOutcome } from './outcomes';
import type { Outcome } from './outcomes';

/** Standard Webhooks: how far the time of a callback may be from now. */
const TOLERANCE_SECONDS = 5 * 60;
const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks: of a secret, at least. Less is a mistake, such as a variable that is not set. */
const SECRET_BYTES_MIN = 24;
const CHECK_SUM = 'checkSum';
const HOLD_EVENTS = ['authorization_expiring', 'authorization_expired'] as const;

/** What callbacks are signed with. Which one counts is the gateway's choice for each callback; a missing one refuses. */
export interface CallbackSecrets {
  /** API password: signs `checkSum` of callbacks about cards. */
  password?: string | undefined;
  /** Signs `checkSum` of callbacks about payouts. */
  payoutSecret?: string | undefined;
  /**
   * `whsec_…`, several during a rotation. If given, callbacks must have the headers of Standard Webhooks, which are signed
   * with it and protect from replays; `checkSum` is not looked at.
   */
  webhookSecret?: string | readonly string[] | undefined;
}

/** Names in any case. A `Headers` object, or those of Node. */
export type CallbackHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedCallback {
  /** The bytes as they came, or the parsed form. `webhookSecret` needs the bytes. */
  body: unknown;
  headers?: CallbackHeaders | undefined;
}

interface Received {
  readonly reference: string;
  readonly transaction_unique_id: string;
  /** All fields, custom parameters included. */
  readonly fields: Readonly<Record<string, string>>;
  /** The same in each attempt to deliver the callback. Only with `webhookSecret`. */
  readonly id?: string | undefined;
  /**
   * From 1 in the order in which the callbacks about a payment arose. No signature covers it: order callbacks by it, and
   * decide nothing else.
   */
  readonly sequence?: number | undefined;
}

/** The final outcome of an operation. */
export interface OutcomeCallback extends Received {
  readonly kind: 'card' | 'payout';
  readonly outcome: Outcome<'approved' | 'declined' | 'error'>;
}

/** For accounts that have asked for it: a hold ends soon, or has ended. */
export interface HoldCallback extends Received {
  readonly kind: 'hold';
  readonly event: (typeof HOLD_EVENTS)[number];
  /** Unix seconds. */
  readonly hold_ends_at: number;
}

export type Callback = OutcomeCallback | HoldCallback;

export type CallbackRefusal =
  /** Not a callback of the gateway. */
  | 'malformed'
  /** The form was parsed before; `webhookSecret` needs the bytes. */
  | 'raw-body-needed'
  /** There is no signature, or no secret to check it with. */
  | 'unsigned'
  | 'wrong-signature'
  /** Signed by the gateway, but not within 5 minutes of now: a replay, or a wrong clock. */
  | 'out-of-time';

export type Verification =
  | { readonly verified: true; readonly callback: Callback }
  | { readonly verified: false; readonly refusal: CallbackRefusal };

/**
 * Whether a callback is from the gateway, and what it says. Compares in constant time. A callback may come more than once:
 * act on a `reference` once. Throws a TypeError for a secret that is none.
 */
export function verifyCallback(
  { body, headers = {} }: ReceivedCallback,
  secrets: CallbackSecrets,
  now: Date = new Date(),
): Verification {
  const bytes = bytesIn(body);
  const fields = fieldsOf(bytes ?? body);
  if (fields === undefined) return refused('malformed');
  const { webhookSecret } = secrets;
  const refusal =
    webhookSecret === undefined
      ? checkSumRefusal(fields, secrets)
      : signatureRefusal(bytes, headers, [webhookSecret].flat().map(keyOf), now);
  if (refusal !== undefined) return refused(refusal);
  const id = webhookSecret === undefined ? undefined : header(headers, 'webhook-id');
  const callback = callbackOf(fields, id, header(headers, 'gateway-sequence'));
  return callback === undefined ? refused('malformed') : { verified: true, callback };
}

/** Throws a TypeError unless there is something to verify callbacks with: a variable of the environment may not be set. */
export function requireSecret({ password, payoutSecret, webhookSecret }: CallbackSecrets): void {
  const standard = [webhookSecret ?? []].flat();
  for (const secret of standard) keyOf(secret);
  if (webhookSecret !== undefined && standard.length === 0) throw new TypeError('webhookSecret is an empty list');
  if (webhookSecret === undefined && !password && !payoutSecret)
    throw new TypeError('a secret is missing: password, payoutSecret or webhookSecret');
}

function refused(refusal: CallbackRefusal): Verification {
  return { verified: false, refusal };
}

type Fields = Readonly<Record<string, string>>;

function fieldsOf(body: unknown): Fields | undefined {
  if (Buffer.isBuffer(body)) return fieldsIn(new URLSearchParams(body.toString()));
  if (typeof body !== 'object' || body === null) return undefined;
  return fieldsIn(body instanceof URLSearchParams ? body : Object.entries(body));
}

/** Undefined if a name comes twice: nobody could say which value was signed. */
function fieldsIn(entries: Iterable<readonly [string, unknown]>): Fields | undefined {
  const fields = new Map<string, string>();
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || fields.has(name)) return undefined;
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** interface.md, "Authentication". Statuses of payouts are in upper case, and have a secret of their own. */
function checkSumRefusal(fields: Fields, { password, payoutSecret }: CallbackSecrets): CallbackRefusal | undefined {
  const { checkSum = '', status = '' } = fields;
  const secret = isPayout(status) ? payoutSecret : password;
  if (checkSum === '' || !secret) return 'unsigned';
  return isEqual(checkSum, checkSumOf(fields, secret)) ? undefined : 'wrong-signature';
}

function isPayout(status: string): boolean {
  return /^[A-Z]+$/.test(status);
}

function checkSumOf(fields: Fields, secret: string): string {
  const items = Object.entries(fields)
    .filter(([name]) => name !== CHECK_SUM)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return createHash('sha256')
    .update([...items, secret].join('|'))
    .digest('hex');
}

/** Of hashes, because the lengths may differ. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** https://github.com/standard-webhooks/standard-webhooks, "Verifying signatures". */
function signatureRefusal(
  body: Uint8Array | undefined,
  headers: CallbackHeaders,
  keys: readonly Buffer[],
  now: Date,
): CallbackRefusal | undefined {
  if (body === undefined) return 'raw-body-needed';
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => header(headers, `webhook-${name}`));
  if (!id || !timestamp || !signature || keys.length === 0) return 'unsigned';
  const given = signature.split(' ').filter((one) => one.startsWith('v1,'));
  const expected = keys.map((key) => signatureOf(key, id, timestamp, body));
  // All pairs are compared, whichever fits.
  const matches = expected.flatMap((own) => given.map((one) => isEqual(one, own)));
  if (!matches.includes(true)) return 'wrong-signature';
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp);
  return Math.abs(ageSeconds) <= TOLERANCE_SECONDS ? undefined : 'out-of-time';
}

function signatureOf(key: Buffer, id: string, timestamp: string, body: string | Uint8Array): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** The same bytes as a Buffer, which is no type of a shop without Node's; undefined for what has none, such as a parsed form. */
export function bytesIn(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const isArrayBuffer = /^\[object (?:Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(body));
  return isArrayBuffer ? Buffer.from(body as ArrayBuffer) : undefined;
}

/** Undefined is a variable of the environment that is not set, in a shop without types. */
function keyOf(secret: string | undefined): Buffer {
  if (!secret?.startsWith(SECRET_PREFIX)) throw new TypeError(`webhookSecret must begin with ${SECRET_PREFIX}`);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  if (key.length < SECRET_BYTES_MIN) throw new TypeError(`webhookSecret has fewer than ${SECRET_BYTES_MIN} bytes`);
  return key;
}

function header(headers: CallbackHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

function isHeaders(headers: CallbackHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function callbackOf(fields: Fields, id: string | undefined, sequence = ''): Callback | undefined {
  const { status, code, message, reference, transaction_unique_id, event } = fields;
  if (!status || !message || !reference || !transaction_unique_id || !/^\d+$/.test(code ?? '')) return undefined;
  const number = /^\d{1,15}$/.test(sequence) ? Number(sequence) : undefined;
  const received = { reference, transaction_unique_id, fields, id, sequence: number };
  const hold = HOLD_EVENTS.find((known) => known === event);
  if (hold !== undefined)
    return { kind: 'hold', event: hold, hold_ends_at: Number(fields['hold_ends_at']), ...received };
  const outcome = finalOutcome({ ...fields, status, message, code: Number(code) });
  return outcome && { kind: isPayout(status) ? 'payout' : 'card', outcome, ...received };
}

export interface TestCallback {
  /** Post it as `application/x-www-form-urlencoded`. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A callback as the gateway would send it, for the shop's own tests. `fields` replaces those of an approved card payment;
 * `at` is when it is sent.
 */
export function signTestCallback(
  fields: Readonly<Record<string, string | number>>,
  secrets: CallbackSecrets,
  at: Date = new Date(),
): TestCallback {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  const unsigned: Fields = { ...TEST_FIELDS, ...Object.fromEntries(texts) };
  const secret = isPayout(unsigned['status'] ?? '') ? secrets.payoutSecret : secrets.password;
  const body = new URLSearchParams({ ...unsigned, [CHECK_SUM]: checkSumOf(unsigned, secret ?? '') }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const keys = [secrets.webhookSecret ?? []].flat().map(keyOf);
  if (keys.length === 0) return { body, headers };
  const [id, timestamp] = [randomUUID(), String(Math.floor(at.getTime() / 1000))];
  const signature = keys.map((key) => signatureOf(key, id, timestamp, body)).join(' ');
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return { body, headers: { ...headers, ...signed, 'gateway-sequence': '1' } };
}

const TEST_FIELDS: Fields = {
  token: '00000000-0000-0000-0000-000000000000',
  reference: '00000000000000000000',
  transaction_unique_id: 'test-callback',
  status: 'success',
  code: '0',
  message: 'Transaction processed successfully',
};
