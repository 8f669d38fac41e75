import type { PayoutOrder } from '../../domain/bank/payout';
import type { MaskedAccount } from '../../domain/masked-account';
import { maskedAccount } from '../../domain/masked-account';
import { HttpProblem } from './listener';
import { isRecord, readAmount, readCurrency, readObject, readText, required } from './request-fields';

/** ISO 13616, without its check digits' sum: the gateway checks them. */
const IBAN = /^[A-Z]{2}\d{2}[0-9A-Z]{11,30}$/;
/** ISO 9362. */
const BIC = /^[A-Z0-9]{8}(?:[A-Z0-9]{3})?$/;
const REASON_CODE = /^[A-Z0-9]{1,35}$/;
const LIMIT = /^[1-9]\d{0,3}$/;
const LIMIT_MAX = 1000;
const LIMIT_DEFAULT = 100;

/**
 * Reads a payout and leaves behind all that the bank does not keep: the creditor's name, most of the IBAN, the
 * description. Throws a 400 that names the first field that is wrong, never its value.
 */
export function readPayout(idempotencyKey: string, json: unknown): PayoutOrder {
  const body = readObject(json);
  if (body['reference'] !== idempotencyKey) throw new HttpProblem(400, 'reference is not the idempotency key');
  readText('description', body['description']);
  return {
    idempotencyKey,
    reference: idempotencyKey,
    amountE4: required('amount', readAmount(body['amount'])),
    currency: required('currency', readCurrency(body['currency'])),
    instant: required('instant', readFlag(body['instant'])),
    creditor: required('creditor', readCreditor(body['creditor'])),
  };
}

function readFlag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function readCreditor(value: unknown): MaskedAccount | undefined {
  if (!isRecord(value)) return undefined;
  const { name, iban, bic } = value;
  required('creditor.name', readText('creditor.name', name) ?? undefined);
  const namesBank = bic !== undefined && bic !== null;
  if (namesBank && !(typeof bic === 'string' && BIC.test(bic))) throw new HttpProblem(400, 'creditor.bic malformed');
  if (typeof iban !== 'string' || !IBAN.test(iban)) throw new HttpProblem(400, 'creditor.iban missing or malformed');
  return maskedAccount(iban);
}

/** Why money comes back: 1 to 35 of `[A-Z0-9]`. Throws a 400 for anything else. */
export function readReasonCode(json: unknown): string {
  const { reasonCode } = readObject(json);
  if (typeof reasonCode === 'string' && REASON_CODE.test(reasonCode)) return reasonCode;
  throw new HttpProblem(400, 'reasonCode missing or malformed');
}

/** How many returns are asked for: 1 to 1000, 100 by default. Throws a 400 for anything else. */
export function readLimit(query: URLSearchParams): number {
  const limit = query.get('limit') ?? String(LIMIT_DEFAULT);
  if (LIMIT.test(limit) && Number(limit) <= LIMIT_MAX) return Number(limit);
  throw new HttpProblem(400, 'limit malformed');
}
