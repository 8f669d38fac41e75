import { isCurrency, parseAmountE4 } from '@gateway/contracts';
import { HttpProblem } from './listener';

const KEY = /^[0-9A-Za-z_-]{1,64}$/;
const TEXT_MAX_LENGTH = 255;

/** Throws a 400 for anything but 1 to 64 of `[0-9A-Za-z_-]`. */
export function readKey(value: string | undefined): string {
  if (value === undefined || !KEY.test(value)) throw new HttpProblem(400, 'idempotency key missing or malformed');
  return value;
}

/** Throws a 400 for anything but a JSON object. */
export function readObject(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw new HttpProblem(400, 'body is not an object');
  return body;
}

export function readReference(value: unknown): string | undefined {
  return typeof value === 'string' && KEY.test(value) ? value : undefined;
}

/** A decimal string, as money travels between banks: a JSON number may have been rounded on its way. */
export function readAmount(value: unknown): number | undefined {
  return typeof value === 'string' ? parseAmountE4(value) : undefined;
}

export function readCurrency(value: unknown): string | undefined {
  return typeof value === 'string' && isCurrency(value) ? value : undefined;
}

/** Null where there is none. Throws a 400 for anything but a text of up to 255 characters. */
export function readText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX_LENGTH) return value;
  throw new HttpProblem(400, `${field} malformed`);
}

/** Throws a 400 that names the field, never its value. */
export function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new HttpProblem(400, `${field} missing or malformed`);
  return value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
