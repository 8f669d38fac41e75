import type { AcquirerPorts } from '../../application/acquirer';
import { performOperation } from '../../application/acquirer';
import type { AcquirerOperation, OperationRequest } from '../../domain/acquirer';
import {
  ACQUIRER_OPERATIONS,
  operationCancellationAnswer,
  operationInquiryAnswer,
  operationResultOf,
} from '../../domain/acquirer';
import type { MaskedCard } from '../../domain/masked-card';
import { maskedCard } from '../../domain/masked-card';
import type { OnAnswer, Takes } from './keyed';
import {
  isRecord,
  keyedRoutes,
  readAmount,
  readCurrency,
  readObject,
  readReference,
  readText,
  required,
} from './keyed';
import type { Route } from './listener';
import { HttpProblem } from './listener';

const PAN = /^\d{12,19}$/;
const ECI = /^0[0-7]$/;
/** Base64 of 20 bytes. */
const AUTHENTICATION_VALUE = /^[A-Za-z0-9+/]{27}=$/;

/** The acquirer's API: operations, inquiry and cancellation by idempotency key. */
export function acquirerRoutes(ports: AcquirerPorts, takes: Takes, onAnswer: OnAnswer): Route[] {
  return keyedRoutes({
    path: '/acquirer/v1/operations',
    callers: ['card-processing', 'operator'],
    ports,
    takes,
    onAnswer,
    read: readOperation,
    operationOf: ({ operation }) => operation,
    perform: (request) => performOperation(ports, request),
    resultOf: operationResultOf,
    inquiryAnswer: operationInquiryAnswer,
    cancellationAnswer: operationCancellationAnswer,
  });
}

/**
 * Reads a request and drops what the acquirer does not keep: card number, CVV, holder, customer. Throws a 400 that
 * names the first invalid field, never its value.
 */
function readOperation(idempotencyKey: string, json: unknown): OperationRequest {
  const body = readObject(json);
  const operation = readOperationName(body['operation']);
  const hasCard = operation === 'authorize' || operation === 'sale';
  const isVoid = operation === 'void';
  return {
    idempotencyKey,
    operation,
    reference: required('reference', readReference(body['reference'])),
    amountE4: isVoid ? null : required('amount', readAmount(body['amount'])),
    currency: isVoid ? null : required('currency', readCurrency(body['currency'])),
    card: hasCard ? required('card', readCard(body['card'])) : null,
    originalTransactionId: hasCard ? null : readOriginal(body['originalTransactionId'], isVoid),
    mid: readText('mid', body['mid']),
    eci: readEci(body, hasCard),
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

/** Keeps only the ECI of an authentication. It may stand in `threeDS`, beside it, or in both if they agree. */
function readEci(body: Record<string, unknown>, hasCard: boolean): string | null {
  const eci = readText('eci', body['eci']);
  const threeDS = body['threeDS'];
  if (!hasCard || threeDS === undefined || threeDS === null) return eci;
  const authenticated = required('threeDS.eci', readAuthentication(threeDS));
  if (eci !== null && Number(eci) !== Number(authenticated)) throw new HttpProblem(400, 'eci is not that of threeDS');
  return authenticated;
}

/** The ECI of an authentication, which must carry its cryptogram. */
function readAuthentication(threeDS: unknown): string | undefined {
  if (!isRecord(threeDS)) throw new HttpProblem(400, 'threeDS malformed');
  const { eci, authenticationValue } = threeDS;
  if (typeof authenticationValue !== 'string' || !AUTHENTICATION_VALUE.test(authenticationValue)) {
    throw new HttpProblem(400, 'threeDS.authenticationValue missing or malformed');
  }
  for (const name of ['threeDSServerTransID', 'dsTransID', 'version']) readText(`threeDS.${name}`, threeDS[name]);
  return typeof eci === 'string' && ECI.test(eci) ? eci : undefined;
}
