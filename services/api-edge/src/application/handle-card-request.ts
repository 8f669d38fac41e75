import type { Account } from '@gateway/accounts';
import type { TransactionType } from '@gateway/contracts';
import { checkAccountRules } from '../domain/account-rules';
import type { RawFields } from '../domain/body';
import type { CardRequest } from '../domain/card-request';
import { checkFields } from '../domain/fields';
import type { Incoming } from './admit';
import { admit, readTransactionType, sessionOf } from './admit';
import { check } from './check';
import type { Idempotency } from './ports';
import type { Answer, FieldProblem, Session } from './responses';
import { failure, fieldFailure, problem, unavailable } from './responses';
import type { SubmitPorts } from './submit';
import { submit } from './submit';

/** What this release can do. The others answer 2004. */
const OFFERED: ReadonlySet<TransactionType> = new Set([
  'AUTH',
  'SALE',
  'SETTLE',
  'VOID',
  'REFUND',
  'CHECK',
  'TOKENIZE',
]);

const KEY_LENGTH_MAX = 255;

/** `POST /api/pf/host-to-host`: the order of checks of decisions.md, section 2, from step 2 on. */
export async function handleCardRequest(ports: SubmitPorts, incoming: Incoming): Promise<Answer> {
  const session = sessionOf(incoming);
  try {
    const admitted = await admit(ports, incoming, session);
    if ('refused' in admitted) return admitted.refused;
    const { account } = admitted;
    const read = readTransactionType(incoming, account, OFFERED, session, ports.now());
    if ('refused' in read) return read.refused;
    return await handleTyped(ports, incoming, session, account, read.type);
  } catch (error) {
    // Whatever fails up to here fails before anything was offered to the journal.
    ports.logger.error('a request could not be handled', { error });
    return unavailable(session, ports.now());
  }
}

async function handleTyped(
  ports: SubmitPorts,
  incoming: Incoming,
  session: Session,
  account: Account,
  type: TransactionType,
): Promise<Answer> {
  const now = ports.now();
  const checked = checkFields(type, incoming.fields, now);
  const problems: FieldProblem[] = [...(checked.ok ? [] : checked.problems), ...keyProblems(incoming)];
  if (!checked.ok || problems.length > 0) return fieldFailure(session, now, problems);
  const { request } = checked;
  const code = checkAccountRules(request, { ...account, activated: account.state === 'active' });
  if (code !== undefined) return failure(session, now, code);
  return carryOut(ports, incoming, session, account, request);
}

function carryOut(
  ports: SubmitPorts,
  incoming: Incoming,
  session: Session,
  account: Account,
  request: CardRequest,
): Promise<Answer> {
  switch (request.transactionType) {
    case 'CHECK':
      return check(ports, session, account.merchantAccount, request);
    case 'AUTH3D':
    case 'SALE3D':
      throw new Error(`${request.transactionType} is not offered`);
    default:
      return submit(ports, session, account, request, idempotencyOf(ports, incoming));
  }
}

function keyProblems({ idempotencyKey }: Incoming): FieldProblem[] {
  return idempotencyKey !== undefined && idempotencyKey.length > KEY_LENGTH_MAX
    ? [problem(1004, 'Idempotency-Key')]
    : [];
}

function idempotencyOf(ports: SubmitPorts, { idempotencyKey, endpoint, fields }: Incoming): Idempotency | undefined {
  if (idempotencyKey === undefined || idempotencyKey === '') return undefined;
  // A key may be anything, a card number too: what is kept of it tells nothing.
  return { endpoint, key: ports.bodyHash(idempotencyKey), bodyHash: ports.bodyHash(contentOf(fields)) };
}

/**
 * What makes two bodies the same: every field but the secrets that must leave no trace, in whatever order they came.
 * Objects are no valid value of any field, and are not looked into.
 */
function contentOf(fields: RawFields): string {
  return [...fields]
    .filter(([name]) => name !== 'cvv' && name !== 'merchant_password')
    .map(([name, value]) => JSON.stringify([name, typeof value, typeof value === 'object' ? null : String(value)]))
    .sort()
    .join();
}
