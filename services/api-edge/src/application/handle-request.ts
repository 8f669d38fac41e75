import type { Account } from '@gateway/accounts';
import { payoutCurrenciesOf } from '@gateway/accounts';
import { RawText, RESPONSE_CODES } from '@gateway/contracts';
import type { Slot } from '@gateway/service-kit';
import { annotate } from '@gateway/service-kit';
import type { AccountForRules, AccountRefusal } from '../domain/account-rules';
import type { MoneyOf } from '../domain/account-reasons';
import { whyAccountRefuses } from '../domain/account-reasons';
import type { RawFields, RawValue } from '../domain/body';
import { checkTable } from '../domain/field-check';
import type { Incoming } from './admit';
import { admit, sessionOf } from './admit';
import { chooseOperation } from './choose-operation';
import type { Endpoint, Operation } from './endpoint';
import type { Idempotency, Ports } from './ports';
import type { Answer, FieldProblem, Session } from './responses';
import { fieldFailure, problem, refusal, unavailable } from './responses';

/** What an endpoint does with a request that has passed the checks of its declaration. */
export interface RequestKind<Request> {
  /** Step 5: fields that are valid, and which this account must not send. */
  refusedFields?(request: Request, account: Account): FieldProblem[];
  /** Step 6: the code of the refusal. */
  checkRules(request: Request, account: AccountForRules): AccountRefusal | undefined;
  /** `slot` is released afterwards, or earlier: a request that only waits must not hold it. */
  carryOut(
    session: Session,
    account: Account,
    request: Request,
    idempotencies: readonly Idempotency[],
    slot: Slot,
  ): Promise<Answer>;
}

const KEY_LENGTH_MAX = 255;
const KEY_HINT = `Send at most ${KEY_LENGTH_MAX} characters, such as order-00000001`;

/** The order of checks of decisions.md, section 2, from step 2 on. */
export async function handleRequest<Request>(
  ports: Ports,
  incoming: Incoming,
  endpoint: Endpoint<Request>,
  kind: RequestKind<NoInfer<Request>>,
): Promise<Answer> {
  const session = sessionOf(incoming, endpoint.echoed);
  try {
    const admitted = await admit(ports, incoming, session);
    if ('refused' in admitted) return admitted.refused;
    const { account, slot } = admitted;
    annotate({ 'gateway.account': account.merchantAccount });
    try {
      const chosen = chooseOperation(endpoint, incoming, account, session, ports.now());
      if ('refused' in chosen) return chosen.refused;
      const checked = checkFields(ports, incoming, session, account, endpoint, chosen.operation, kind);
      if ('refused' in checked) return checked.refused;
      const code = kind.checkRules(checked.request, rulesOf(account));
      if (code !== undefined) {
        const money: MoneyOf = checked.request as object;
        const why = whyAccountRefuses(code, money, rulesOf(account), session.family);
        return refusal(session, ports.now(), code, why);
      }
      return await kind.carryOut(session, account, checked.request, idempotenciesOf(ports, incoming), slot);
    } finally {
      slot.release();
    }
  } catch (error) {
    // A fault up to here comes before anything was offered to the journal.
    ports.logger.error('a request could not be handled', { error });
    return unavailable(session, ports.now());
  }
}

/** Step 5. */
function checkFields<Request>(
  ports: Ports,
  incoming: Incoming,
  session: Session,
  account: Account,
  { takesKey }: Endpoint<Request>,
  { table, tableFor }: Operation<Request>,
  { refusedFields }: Pick<RequestKind<Request>, 'refusedFields'>,
): { request: Request } | { refused: Answer } {
  const now = ports.now();
  const checked = checkTable(tableFor?.(account) ?? table, incoming.fields, now);
  const problems: FieldProblem[] = [
    ...(checked.ok ? (refusedFields?.(checked.request, account) ?? []) : checked.problems),
    ...(takesKey ? keyProblems(incoming) : []),
  ];
  return checked.ok && problems.length === 0
    ? { request: checked.request }
    : { refused: fieldFailure(session, now, problems) };
}

function rulesOf(account: Account): AccountForRules {
  return { ...account, activated: account.state === 'active', payoutCurrencies: payoutCurrenciesOf(account) };
}

function keyProblems({ idempotencyKey }: Incoming): FieldProblem[] {
  return idempotencyKey !== undefined && idempotencyKey.within(KEY_LENGTH_MAX) === undefined
    ? [problem(RESPONSE_CODES.FIELD_INVALID, 'Idempotency-Key', 'length', KEY_HINT)]
    : [];
}

function idempotenciesOf(ports: Ports, { idempotencyKey, endpoint, fields }: Incoming): readonly Idempotency[] {
  const key = idempotencyKey?.within(KEY_LENGTH_MAX) ?? '';
  if (key === '') return [];
  // A key may be anything, even a card number, so only its hash is stored.
  const bodies = ports.bodyHashes(contentOf(fields));
  return ports.bodyHashes(key).map((hash, index) => ({ endpoint, key: hash, bodyHash: bodies[index] ?? '' }));
}

/** The whole of a field that was ignored counts too: hashing costs little. No body is longer. */
const HASHED_LENGTH_MAX = 64 * 1024;

/** Two bodies are the same if all fields are, except the secrets that must leave no trace, in any order. */
function contentOf(fields: RawFields): string {
  return [...fields]
    .filter(([name]) => !name.is('cvv') && !name.is('merchant_password'))
    .map(([name, value]) => JSON.stringify([name.start(HASHED_LENGTH_MAX), ...hashedValue(value)]))
    .sort()
    .join();
}

function hashedValue(value: RawValue): readonly [type: string, value: string | null] {
  if (value instanceof RawText) return ['string', value.start(HASHED_LENGTH_MAX)];
  return [typeof value, value === null ? null : String(value)];
}
