import type { Account } from '@gateway/accounts';
import { payoutCurrenciesOf } from '@gateway/accounts';
import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { Slot } from '@gateway/service-kit';
import { annotate } from '@gateway/service-kit';
import type { AccountForRules } from '../domain/account-rules';
import type { RawFields } from '../domain/body';
import type { FieldCheck } from '../domain/field-check';
import type { FieldOptions } from '../domain/fields';
import type { Echoed, Incoming, ReadType } from './admit';
import { admit, sessionOf } from './admit';
import type { Idempotency, Ports } from './ports';
import type { Answer, FieldProblem, Session } from './responses';
import { failure, fieldFailure, problem, unavailable } from './responses';

/** The differences between endpoints. */
export interface RequestKind<Type, Request> {
  echoed: Echoed;
  /** False for queries, which need no Idempotency-Key. */
  takesKey?: false;
  /** Step 4. */
  readType: ReadType<Type>;
  /** Step 5. */
  checkFields(type: Type, fields: RawFields, nowMs: number, options: FieldOptions): FieldCheck<Request>;
  /** Step 6: the code of the refusal. */
  checkRules(request: Request, account: AccountForRules): ResponseCode | undefined;
  /** `slot` is released afterwards, or earlier: a request that only waits must not hold it. */
  carryOut(
    session: Session,
    account: Account,
    request: Request,
    idempotency: Idempotency | undefined,
    slot: Slot,
  ): Promise<Answer>;
}

const KEY_LENGTH_MAX = 255;

/** The order of checks of decisions.md, section 2, from step 2 on. */
export async function handleRequest<Type, Request>(
  ports: Ports,
  incoming: Incoming,
  kind: RequestKind<Type, Request>,
): Promise<Answer> {
  const session = sessionOf(incoming, kind.echoed);
  try {
    const admitted = await admit(ports, incoming, session);
    if ('refused' in admitted) return admitted.refused;
    const { account, slot } = admitted;
    annotate({ 'gateway.account': account.merchantAccount });
    try {
      const read = kind.readType(incoming, account, session, ports.now());
      if ('refused' in read) return read.refused;
      const checked = checkRequest(ports, incoming, session, account, kind, read.type);
      if ('refused' in checked) return checked.refused;
      return await kind.carryOut(session, account, checked.request, idempotencyOf(ports, incoming), slot);
    } finally {
      slot.release();
    }
  } catch (error) {
    // A fault up to here comes before anything was offered to the journal.
    ports.logger.error('a request could not be handled', { error });
    return unavailable(session, ports.now());
  }
}

/** Steps 5 and 6. */
function checkRequest<Type, Request>(
  ports: Ports,
  incoming: Incoming,
  session: Session,
  account: Account,
  kind: RequestKind<Type, Request>,
  type: Type,
): { request: Request } | { refused: Answer } {
  const now = ports.now();
  const checked = kind.checkFields(type, incoming.fields, now, account);
  const problems: FieldProblem[] = [
    ...(checked.ok ? [] : checked.problems),
    ...(kind.takesKey === false ? [] : keyProblems(incoming)),
  ];
  if (!checked.ok || problems.length > 0) return { refused: fieldFailure(session, now, problems) };
  const code = kind.checkRules(checked.request, {
    ...account,
    activated: account.state === 'active',
    payoutCurrencies: payoutCurrenciesOf(account),
  });
  return code === undefined ? { request: checked.request } : { refused: failure(session, now, code) };
}

function keyProblems({ idempotencyKey }: Incoming): FieldProblem[] {
  return idempotencyKey !== undefined && idempotencyKey.length > KEY_LENGTH_MAX
    ? [problem(RESPONSE_CODES.FIELD_INVALID, 'Idempotency-Key')]
    : [];
}

function idempotencyOf(ports: Ports, { idempotencyKey, endpoint, fields }: Incoming): Idempotency | undefined {
  if (idempotencyKey === undefined || idempotencyKey === '') return undefined;
  // A key may be anything, even a card number, so only its hash is stored.
  return { endpoint, key: ports.bodyHash(idempotencyKey), bodyHash: ports.bodyHash(contentOf(fields)) };
}

/**
 * Two bodies are the same if all fields are, except the secrets that must leave no trace, in any order. No field has an
 * object as valid value, so objects are not compared.
 */
function contentOf(fields: RawFields): string {
  return [...fields]
    .filter(([name]) => name !== 'cvv' && name !== 'merchant_password')
    .map(([name, value]) => JSON.stringify([name, typeof value, typeof value === 'object' ? null : String(value)]))
    .sort()
    .join();
}
