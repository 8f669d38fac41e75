import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TransactionType } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import ts from 'typescript';
import { RawFields } from '../services/api-edge/src/domain/body';
import { CALLBACK_LIST_TABLE } from '../services/api-edge/src/domain/callback-fields';
import { CLOCK_TABLE } from '../services/api-edge/src/domain/clock-fields';
import type { RequestTable } from '../services/api-edge/src/domain/field-check';
import { checkTable } from '../services/api-edge/src/domain/field-check';
import { rawFields } from '../services/api-edge/src/domain/raw-fields.fixture';
import { cardTable, checkoutTable } from '../services/api-edge/src/domain/fields';
import { PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable } from '../services/api-edge/src/domain/payout-fields';

/** The types of the merchants' client are written by hand. These tests compare them with what the edge checks. */

const root = join(__dirname, '..');
const REQUESTS = join(root, 'libs/merchant-client/src/requests.ts');
const TABLES = ['fields', 'payout-fields', 'callback-fields', 'clock-fields'].map((file) =>
  join(root, `services/api-edge/src/domain/${file}.ts`),
);
const NOW = Date.now();

interface Fields {
  required: string[];
  allowed: string[];
}

type Check = (fields: RawFields) => { ok: true } | { ok: false; problems: readonly { field: string; code: number }[] };

const checkOf =
  (table: RequestTable<unknown>): Check =>
  (fields) =>
    checkTable(table, fields, NOW);
const card = (type: TransactionType): Check => checkOf(cardTable(type));

/** By the names of types in requests.ts; `token` is the variant without card data. */
const CHECKS: Record<string, Check[]> = {
  'ChargeRequest card': [card('SALE'), card('AUTH')],
  'ChargeRequest token': [card('SALE'), card('AUTH')],
  Sale3dRequest: [card('SALE3D')],
  Auth3dRequest: [card('AUTH3D')],
  SettleRequest: [card('SETTLE')],
  RefundRequest: [card('REFUND')],
  VoidRequest: [card('VOID')],
  TokenizeRequest: [card('TOKENIZE')],
  CheckoutRequest: [checkOf(checkoutTable('SALE'))],
  PayoutRequest: [checkOf(payoutTable({ isIban: () => true, isBic: () => true }))],
  PayoutQuery: [checkOf(PAYOUT_QUERY_TABLE)],
  CallbackQuery: [checkOf(CALLBACK_LIST_TABLE)],
  ClockRequest: [checkOf(CLOCK_TABLE)],
};

/** What the client adds itself, or the edge reads before these checks. */
const NOT_COMPARED = new Set(['transaction_unique_id', 'transaction_type', 'method', 'type', 'qod_type']);
const compared = (names: Iterable<string>): string[] =>
  [...new Set(names)].filter((name) => !NOT_COMPARED.has(name)).sort();

/** Every text in the tables that could name a field. */
const names = TABLES.flatMap((path) =>
  Array.from(readFileSync(path, 'utf8').matchAll(/'([a-z_]+)'/g), ([, name]) => name),
).filter((name) => name !== undefined);

function problemsOf(check: Check, fields: RawFields, code: number): string[] {
  const checked = check(fields);
  return checked.ok ? [] : checked.problems.filter((problem) => problem.code === code).map(({ field }) => field);
}

/** No field accepts `true`, so each that is read is reported as invalid. */
function fieldsOf(check: Check, variant: string | undefined): Fields {
  const present: [string, true][] = variant === 'token' ? [['token', true]] : [];
  const all = names.filter((name) => variant === 'token' || name !== 'token');
  const invalid = problemsOf(
    check,
    new RawFields(new Map(all.map((name) => [name, true]))),
    RESPONSE_CODES.FIELD_INVALID,
  );
  const missing = problemsOf(check, new RawFields(new Map(present)), RESPONSE_CODES.FIELD_MISSING);
  return { required: compared([...missing, ...present.map(([name]) => name)]), allowed: compared(invalid) };
}

const program = ts.createProgram([REQUESTS], { strict: true, target: ts.ScriptTarget.ES2022, types: [] });
const checker = program.getTypeChecker();

function typesOf(name: string): Fields {
  const [typeName, variant] = name.split(' ');
  const source = program.getSourceFile(REQUESTS);
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = module && checker.getExportsOfModule(module).find((one) => one.name === typeName);
  if (symbol === undefined) throw new Error(`requests.ts has no ${name}`);
  const declared = checker.getDeclaredTypeOfSymbol(symbol);
  const variants = declared.isUnion() ? declared.types : [declared];
  const wanted = variants.find((one) => (one.getProperty('token') === undefined) === (variant !== 'token'));
  const properties = (wanted ?? declared).getProperties();
  const isOptional = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Optional) !== 0;
  return {
    required: compared(properties.filter((property) => !isOptional(property)).map((property) => property.name)),
    allowed: compared(properties.map((property) => property.name)),
  };
}

test.each(Object.keys(CHECKS))('%s has the fields that the edge takes, and demands those that it demands', (name) => {
  const [, variant] = name.split(' ');
  for (const check of CHECKS[name] ?? []) expect(typesOf(name)).toEqual(fieldsOf(check, variant));
});

test('a subject is what both kinds of CHECK take', () => {
  for (const check of [card('CHECK'), checkOf(PAYOUT_CHECK_TABLE)]) {
    for (const name of ['transaction_unique_id', 'reference'])
      expect(check(rawFields({ [name]: '0123456789ABCDEF0001' })).ok).toBe(true);
    expect(check(rawFields()).ok).toBe(false);
  }
});
