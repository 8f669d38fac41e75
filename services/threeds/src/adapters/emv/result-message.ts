import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawText, Secret } from '@gateway/contracts';
import type { ResultAnswer, ResultMessage } from '../../application/take-result';
import { RESULT_STATUSES } from '../../domain/authentication';
import {
  authenticationValue,
  MESSAGE_VERSION,
  messageFields,
  oneOf,
  parsedJson,
  transactionId,
  twoDigits,
} from './fields';

/** Contains `sha256=` and the hex HMAC-SHA256 of the body's bytes, in place of mutual TLS. */
export const SIGNATURE_HEADER = 'x-ds-signature';

export function isSigned(body: Buffer, signature: RawText | undefined, key: Secret<Buffer>): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', key.expose()).update(body).digest('hex')}`);
  const given = Buffer.from(signature?.within(expected.length) ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The RReq; undefined if it is invalid. */
export function parseResultMessage(body: Buffer): ResultMessage | undefined {
  const fields = messageFields(parsedJson(body), 'RReq');
  const threeDSServerTransId = transactionId(fields?.['threeDSServerTransID']);
  const dsTransId = transactionId(fields?.['dsTransID']);
  const acsTransId = transactionId(fields?.['acsTransID']);
  const transStatus = oneOf(RESULT_STATUSES, fields?.['transStatus']);
  if (fields === undefined || threeDSServerTransId === undefined || transStatus === undefined) return undefined;
  if (dsTransId === undefined || acsTransId === undefined) return undefined;
  const eci = twoDigits(fields['eci']);
  const value = authenticationValue(fields['authenticationValue']);
  const challengeCancel = twoDigits(fields['challengeCancel']);
  return {
    threeDSServerTransId,
    dsTransId,
    acsTransId,
    result: {
      transStatus,
      ...(eci === undefined ? {} : { eci }),
      ...(value === undefined ? {} : { authenticationValue: value }),
      ...(challengeCancel === undefined ? {} : { challengeCancel }),
    },
  };
}

export interface ResultReply {
  status: number;
  body: object;
}

/** The RRes, or an error message with the reason for the refusal. */
export function resultReply(message: ResultMessage, answer: ResultAnswer): ResultReply {
  if (answer !== 'accepted') return errorReply(FAULTS[answer], message);
  const body = {
    messageType: 'RRes',
    messageVersion: MESSAGE_VERSION,
    ...idsOf(message),
    // "01": received, nothing more is expected.
    resultsStatus: '01',
  };
  return { status: 200, body };
}

interface Fault {
  status: number;
  /** EMVCo's error codes and their meanings. */
  errorCode: string;
  errorDescription: string;
}

const UNKNOWN_TRANSACTION: Fault = { status: 404, errorCode: '301', errorDescription: 'Transaction ID not recognised' };
const NOT_VALID: Fault = { status: 409, errorCode: '305', errorDescription: 'Transaction data not valid' };
const TIMED_OUT: Fault = { status: 409, errorCode: '402', errorDescription: 'Transaction timed out' };
const ACCESS_DENIED: Fault = { status: 401, errorCode: '303', errorDescription: 'Access denied, invalid endpoint' };
const BAD_FORMAT: Fault = { status: 400, errorCode: '203', errorDescription: 'Format of an element is invalid' };

const FAULTS: Readonly<Record<Exclude<ResultAnswer, 'accepted'>, Fault>> = {
  'unknown-transaction': UNKNOWN_TRANSACTION,
  'other-transaction': UNKNOWN_TRANSACTION,
  'not-awaited': NOT_VALID,
  'already-decided': NOT_VALID,
  expired: TIMED_OUT,
};

export const notSigned = (): ResultReply => errorReply(ACCESS_DENIED);
export const notUnderstood = (): ResultReply => errorReply(BAD_FORMAT);

const THREE_DS_SERVER = 'S';

function errorReply({ status, errorCode, errorDescription }: Fault, about?: ResultMessage): ResultReply {
  const body = {
    messageType: 'Erro',
    messageVersion: MESSAGE_VERSION,
    ...(about === undefined ? {} : idsOf(about)),
    errorCode,
    errorComponent: THREE_DS_SERVER,
    errorDescription,
    errorDetail: errorDescription,
    errorMessageType: 'RReq',
  };
  return { status, body };
}

function idsOf({ threeDSServerTransId, dsTransId, acsTransId }: ResultMessage) {
  return { threeDSServerTransID: threeDSServerTransId, dsTransID: dsTransId, acsTransID: acsTransId };
}
