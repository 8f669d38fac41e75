import { isCurrency, parseAmountE4 } from '@gateway/contracts';
import type { AcquirerOperation, MaskedCard, OperationRequest } from '../../domain/acquirer/operation';
import { ACQUIRER_OPERATIONS } from '../../domain/acquirer/operation';
import { HttpProblem } from './listener';

const KEY = /^[0-9A-Za-z_-]{1,64}$/;
const TEXT_MAX_LENGTH = 255;
const PAN = /^\d{12,19}$/;

/** Throws a 400 for anything but 1 to 64 of `[0-9A-Za-z_-]`. */
export function readKey(value: string | undefined): string {
  if (value === undefined || !KEY.test(value)) throw new HttpProblem(400, 'idempotency key missing or malformed');
  return value;
}

/**
 * Reads a request and leaves behind all that the acquirer does not keep: card number, CVV, holder, customer. Throws a
 * 400 that names the first field that is wrong, never its value.
 */
export function readOperation(idempotencyKey: string, body: unknown): OperationRequest {
  if (!isRecord(body)) throw new HttpProblem(400, 'body is not an object');
  const operation = readOperationName(body['operation']);
  const charges = operation === 'authorize' || operation === 'sale';
  const isVoid = operation === 'void';
  return {
    idempotencyKey,
    operation,
    reference: required('reference', readReference(body['reference'])),
    amountE4: isVoid ? null : required('amount', readAmount(body['amount'])),
    currency: isVoid ? null : required('currency', readCurrency(body['currency'])),
    card: charges ? required('card', readCard(body['card'])) : null,
    originalTransactionId: charges ? null : readOriginal(body['originalTransactionId'], isVoid),
    mid: readText('mid', body['mid']),
    eci: readText('eci', body['eci']),
  };
}

function readOperationName(value: unknown): AcquirerOperation {
  return required(
    'operation',
    ACQUIRER_OPERATIONS.find((operation) => operation === value),
  );
}

function readReference(value: unknown): string | undefined {
  return typeof value === 'string' && KEY.test(value) ? value : undefined;
}

/** A decimal string, as money travels between banks: a JSON number may have been rounded on its way. */
function readAmount(value: unknown): number | undefined {
  return typeof value === 'string' ? parseAmountE4(value) : undefined;
}

function readCurrency(value: unknown): string | undefined {
  return typeof value === 'string' && isCurrency(value) ? value : undefined;
}

function readOriginal(value: unknown, optional: boolean): string | null {
  const original = readText('originalTransactionId', value);
  if (original === null && !optional) throw new HttpProblem(400, 'originalTransactionId missing or malformed');
  return original;
}

function readCard(value: unknown): MaskedCard | undefined {
  if (!isRecord(value)) return undefined;
  const number = value['number'];
  return typeof number === 'string' && PAN.test(number)
    ? { brand: brandOf(number), last4: number.slice(-4) }
    : undefined;
}

function brandOf(pan: string): MaskedCard['brand'] {
  if (pan.startsWith('4')) return 'visa';
  if (/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(pan)) return 'mastercard';
  return /^3[47]/.test(pan) ? 'amex' : 'other';
}

function readText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX_LENGTH) return value;
  throw new HttpProblem(400, `${field} malformed`);
}

function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new HttpProblem(400, `${field} missing or malformed`);
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
