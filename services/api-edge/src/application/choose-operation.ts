import type { Account } from '@gateway/accounts';
import type { ErrorReason, ResponseCode } from '@gateway/contracts';
import { RawText, RESPONSE_CODES } from '@gateway/contracts';
import type { RawFields } from '../domain/body';
import { isAbsent } from '../domain/body';
import { readText } from '../domain/envelope-fields';
import { whyNoText } from '../domain/field-rules';
import { hintOf } from '../domain/field-table';
import type { Incoming } from './admit';
import type { Endpoint, Operation } from './endpoint';
import type { Answer, Session } from './responses';
import { fieldFailure, problem, refusal } from './responses';

/** Step 4 of the order of checks: one of the endpoint's operations, enabled for the account. */
export function chooseOperation<Request>(
  { operations }: Endpoint<Request>,
  { fields }: Incoming,
  account: Account,
  session: Session,
  now: number,
): { operation: Operation<Request> } | { refused: Answer } {
  const value = readText(fields, 'transaction_type');
  const byType = operations.some(({ transactionType }) => transactionType !== undefined);
  const refuse = (code: ResponseCode, reason: ErrorReason): { refused: Answer } => ({
    refused: fieldFailure(session, now, [problem(code, 'transaction_type', reason, typesHint(operations))]),
  });
  if (byType && value === undefined) return refuse(RESPONSE_CODES.FIELD_MISSING, 'missing');
  const operation = byType ? operations.find(({ transactionType }) => transactionType === value) : operations[0];
  if (operation === undefined) return refuse(RESPONSE_CODES.FIELD_INVALID, whyNoType(fields));
  return operation.allows?.(account) !== false ? { operation } : { refused: notAllowed(session, now, operation) };
}

/** 2004: the account may not send the operation. */
export function notAllowed(
  session: Session,
  now: number,
  { transactionType, whoMay }: Pick<Operation, 'transactionType' | 'whoMay'>,
): Answer {
  const field = transactionType === undefined ? 'path' : 'transaction_type';
  const hint = whoMay ?? 'Ask the operator to enable it for the account';
  return refusal(session, now, RESPONSE_CODES.TRANSACTION_TYPE_NOT_ALLOWED, {
    field,
    reason: 'type-not-allowed',
    hint,
  });
}

function typesHint(operations: readonly Pick<Operation, 'transactionType'>[]): string {
  const types = operations.flatMap(({ transactionType }) => transactionType ?? []);
  return hintOf({ allowed: `one of ${types.join(', ')}`, example: types[0] ?? '' });
}

function whyNoType(fields: RawFields): ErrorReason {
  const value = fields.get('transaction_type');
  return isAbsent(value) || value instanceof RawText ? 'not-listed' : whyNoText(value);
}
