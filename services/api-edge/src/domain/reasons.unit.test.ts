import { ERROR_REASONS } from '@gateway/contracts';
import fc from 'fast-check';
import { isoBankAddresses } from '../adapters/bank-addresses/iso';
import type { Operation } from '../application/endpoint';
import { merchantEndpoints } from '../application/endpoints';
import { whyAccountRefuses } from './account-reasons';
import { checkAccountRules, checkPayoutRules } from './account-rules';
import type { RawFields } from './body';
import { parseFormBody, parseJsonBody } from './body';
import type { RequestTable } from './field-check';
import { checkTable } from './field-check';
import type { FieldProblem, FieldRow } from './field-table';
import { hintOf } from './field-table';
import { cardTable } from './fields';
import { payoutTable } from './payout-fields';

const NOW_MS = Date.UTC(2026, 5, 15, 12);
type Fields = Record<string, string | number | boolean>;

const asJson = (fields: Fields): RawFields => parsed(parseJsonBody(Buffer.from(JSON.stringify(fields))));
const asForm = (fields: Fields): RawFields =>
  parsed(parseFormBody(Buffer.from(new URLSearchParams(fields as Record<string, string>).toString())));

function parsed(body: RawFields | 'malformed'): RawFields {
  if (body === 'malformed') throw new Error('malformed');
  return body;
}

/** Every field of every operation of every endpoint. */
const OPERATIONS = Object.values(merchantEndpoints(isoBankAddresses)).flatMap(({ path, operations }) =>
  (operations as readonly Operation[]).map(({ title, table }) => ({ name: `${path} ${title}`, table })),
);
type AnyTable = RequestTable<unknown>;
const ROWS = OPERATIONS.flatMap(({ name, table }) =>
  [...table.rows, ...(table.lastRows ?? [])].map((row) => ({ what: `${row.name} of ${name}`, table, row })),
);

const problemOf = (problems: readonly FieldProblem[], field: string): FieldProblem | undefined =>
  problems.find((one) => one.field === field);

function problemsOf(table: AnyTable, fields: RawFields): readonly FieldProblem[] {
  const checked = checkTable(table, fields, NOW_MS);
  return checked.ok ? [] : checked.problems;
}

const isTaken = ({ need }: FieldRow): boolean =>
  need !== 'forbidden' && (typeof need === 'string' || need.otherwise !== 'forbidden');

describe.each(ROWS)('$what', ({ table, row }) => {
  test('has a hint whose example is valid, in JSON and in a form', () => {
    expect(hintOf(row)).toContain(row.example);
    if (!isTaken(row)) return;
    for (const body of [asJson, asForm]) {
      const problem = problemOf(problemsOf(table, body({ [row.name]: row.example })), row.name);
      expect(problem).toBeUndefined();
    }
  });

  test('says why it refuses a value, in words that do not depend on the value', () => {
    const told = new Set([hintOf(row)]);
    const value = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.double(), fc.boolean(), fc.webUrl());
    fc.assert(
      fc.property(value, (sent) => {
        const problem = problemOf(problemsOf(table, asJson({ [row.name]: sent })), row.name);
        if (problem === undefined) return;
        expect(Object.keys(ERROR_REASONS)).toContain(problem.reason);
        if (problem.reason !== 'forbidden') expect(told).toContain(problem.hint);
        else expect(problem.hint).toMatch(/^Leave it out/);
      }),
      { numRuns: 30 },
    );
  });
});

const SALE = cardTable('SALE');
const reasonOf = (field: string, value: string | number | boolean, table: AnyTable = SALE) =>
  problemOf(problemsOf(table, asJson({ [field]: value })), field)?.reason;

test.each<[string, string | number | boolean, string]>([
  ['first_name', ' ', 'missing'],
  ['first_name', 'a'.repeat(33), 'length'],
  ['first_name', 'a\tb', 'characters'],
  ['first_name', 12, 'type'],
  ['amount', true, 'type'],
  ['amount', '10,00', 'format'],
  ['amount', '10.00001', 'too-many-decimals'],
  ['amount', 1e-7, 'too-many-decimals'],
  ['amount', '-1', 'range'],
  ['amount', 1e21, 'range'],
  ['currency', 'EURO', 'currency-alpha-3'],
  ['country', 'DE', 'country-alpha-3'],
  ['country', 'XKX', 'country-alpha-3'],
  ['card_number', '4111 1111 1111 1111', 'format'],
  ['card_number', '4111111111111112', 'check-digits'],
  ['card_number', '4111', 'length'],
  ['user_ip', '192.0.2.1:443', 'has-port'],
  ['user_ip', '[2001:db8::1]:443', 'has-port'],
  ['user_ip', '192.0.2.1, 198.51.100.7', 'several-addresses'],
  ['user_ip', 'shop.example', 'format'],
  ['date_of_birth', '1990-02-30', 'format'],
  ['date_of_birth', '2999-01-01', 'not-past'],
  ['transaction_unique_id', 'expiry-00001', 'reserved-id'],
  ['transaction_unique_id', 'order 00000001', 'characters'],
  ['cof_type', 'mit', 'not-listed'],
])('%s %j: %s', (field, value, reason) => expect(reasonOf(field, value)).toBe(reason));

test.each([
  ['http://shop.example/', 'not-https'],
  ['https://ann@shop.example/', 'has-user-info'],
  ['https://shop.example:25/', 'port-refused'],
  ['https://shop.example/a b', 'format'],
])('redirect_url %j: %s', (value, reason) => expect(reasonOf('redirect_url', value, cardTable('SALE3D'))).toBe(reason));

test.each([
  ['US89 3704 0044', 'not-sepa'],
  ['DE88370400440532013000', 'check-digits'],
  ['DE89-3704', 'characters'],
])('receiver_iban %j: %s', (value, reason) =>
  expect(reasonOf('receiver_iban', value, payoutTable(isoBankAddresses))).toBe(reason),
);

test('a form with a field twice, and a field with the own card number, say so', () => {
  const twice = parsed(parseFormBody(Buffer.from('country=DEU&country=DEU')));
  expect(problemOf(problemsOf(SALE, twice), 'country')?.reason).toBe('repeated');
  const own = asJson({ card_number: '4111111111111111', city: '4111 1111 1111 1111', custom_a: '4111111111111111' });
  expect(problemOf(problemsOf(SALE, own), 'city')).toMatchObject({ reason: 'shows-card-number' });
  expect(problemOf(problemsOf(SALE, own), 'custom_a')).toMatchObject({ reason: 'shows-card-number' });
});

test('custom fields say what is wrong with their names', () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`custom_a${i}`, 'x']));
  expect(problemOf(problemsOf(SALE, asJson(many)), 'custom_a20')).toMatchObject({ reason: 'too-many-fields' });
  expect(problemOf(problemsOf(SALE, asJson({ custom_A: 'x' })), 'custom_A')).toMatchObject({ reason: 'custom-name' });
});

describe('the account', () => {
  const terminals = [
    { currency: 'XTS', midReference: 'MD00000000000001', active: true },
    { currency: 'USD', midReference: 'MD00000000000002', active: true },
  ];
  const limits = [{ currency: 'USD', minE4: 10_000, maxE4: 1_000_000 }];
  const account = { activated: true, terminals, limits, payoutCurrencies: ['XTS'] };

  test.each([
    [{ currency: 'EUR' }, { activated: false }, 'not-activated', 'send XTS; it has no terminal for EUR either'],
    [{ currency: 'USD' }, { activated: false }, 'not-activated', 'Until the account is activated, send XTS'],
    [{ currency: 'EUR' }, {}, 'no-terminal', 'no active terminal for EUR: send XTS, USD'],
    [{ currency: 'USD', amountE4: 9_999 }, {}, 'account-limits', 'from 1 to 100 USD'],
    [{ currency: 'USD', midReference: 'MD00000000000009' }, {}, 'terminal-not-active', 'active terminal for USD'],
    [{ currency: 'XTS', amountE4: 0 }, {}, 'zero-amount', 'more than 0'],
    [{ currency: 'USD', amountE4: 20_001 }, {}, 'too-many-decimals', 'a multiple of 0.01'],
  ])('says why it refuses %j', (more, state, reason, hint) => {
    const request = { transactionType: 'SALE' as const, amountE4: 100_000, ...more };
    const facts = { ...account, ...state };
    const code = checkAccountRules(request, facts);
    expect(code).toBeDefined();
    const why = whyAccountRefuses(code!, request, facts, 'card');
    expect(why).toMatchObject({ reason, hint: expect.stringContaining(hint) as string });
  });

  test('names the payouts that it has', () => {
    const request = { amountE4: 100_000, currency: 'EUR' };
    const code = checkPayoutRules(request, account);
    expect(whyAccountRefuses(code!, request, account, 'payout')).toEqual({
      field: 'currency',
      reason: 'no-payouts',
      hint: 'The account has no payouts in EUR: send XTS',
    });
  });
});
