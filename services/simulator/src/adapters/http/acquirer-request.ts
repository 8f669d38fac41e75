import type { AcquirerOperation, OperationRequest } from '../../domain/acquirer/operation';
import { ACQUIRER_OPERATIONS } from '../../domain/acquirer/operation';
import type { MaskedCard } from '../../domain/masked-card';
import { maskedCard } from '../../domain/masked-card';
import { HttpProblem } from './listener';
import { isRecord, readAmount, readCurrency, readObject, readReference, readText, required } from './request-fields';

const PAN = /^\d{12,19}$/;
const ECI = /^0[0-7]$/;
/** Base64 of 20 bytes. */
const AUTHENTICATION_VALUE = /^[A-Za-z0-9+/]{27}=$/;

/**
 * Reads a request and leaves behind all that the acquirer does not keep: card number, CVV, holder, customer. Throws a
 * 400 that names the first field that is wrong, never its value.
 */
export function readOperation(idempotencyKey: string, json: unknown): OperationRequest {
  const body = readObject(json);
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
    eci: readEci(body, charges),
  };
}

function readOperationName(value: unknown): AcquirerOperation {
  return required(
    'operation',
    ACQUIRER_OPERATIONS.find((operation) => operation === value),
  );
}

function readOriginal(value: unknown, optional: boolean): string | null {
  const original = readText('originalTransactionId', value);
  if (original === null && !optional) throw new HttpProblem(400, 'originalTransactionId missing or malformed');
  return original;
}

function readCard(value: unknown): MaskedCard | undefined {
  if (!isRecord(value)) return undefined;
  const number = value['number'];
  return typeof number === 'string' && PAN.test(number) ? maskedCard(number) : undefined;
}

/** Of a cardholder's authentication only its ECI is kept, named beside it or in it; both must say the same. */
function readEci(body: Record<string, unknown>, charges: boolean): string | null {
  const eci = readText('eci', body['eci']);
  const threeDS = body['threeDS'];
  if (!charges || threeDS === undefined || threeDS === null) return eci;
  const authenticated = required('threeDS.eci', readAuthentication(threeDS));
  if (eci !== null && Number(eci) !== Number(authenticated)) throw new HttpProblem(400, 'eci is not that of threeDS');
  return authenticated;
}

/** The ECI of an authentication that has its cryptogram. */
function readAuthentication(threeDS: unknown): string | undefined {
  if (!isRecord(threeDS)) throw new HttpProblem(400, 'threeDS malformed');
  const { eci, authenticationValue } = threeDS;
  if (typeof authenticationValue !== 'string' || !AUTHENTICATION_VALUE.test(authenticationValue)) {
    throw new HttpProblem(400, 'threeDS.authenticationValue missing or malformed');
  }
  for (const name of ['threeDSServerTransID', 'dsTransID', 'version']) readText(`threeDS.${name}`, threeDS[name]);
  return typeof eci === 'string' && ECI.test(eci) ? eci : undefined;
}
