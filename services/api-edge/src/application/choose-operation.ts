import type { Account } from '@gateway/accounts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { readText } from '../domain/envelope-fields';
import type { Incoming } from './admit';
import type { Endpoint, Operation } from './endpoint';
import type { Answer, Session } from './responses';
import { failure, fieldFailure, problem } from './responses';

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
  if (byType && value === undefined)
    return { refused: fieldFailure(session, now, [problem(RESPONSE_CODES.FIELD_MISSING, 'transaction_type')]) };
  const operation = byType ? operations.find(({ transactionType }) => transactionType === value) : operations[0];
  if (operation === undefined)
    return { refused: fieldFailure(session, now, [problem(RESPONSE_CODES.FIELD_INVALID, 'transaction_type')]) };
  return operation.allows?.(account) !== false
    ? { operation }
    : { refused: failure(session, now, RESPONSE_CODES.TRANSACTION_TYPE_NOT_ALLOWED) };
}
