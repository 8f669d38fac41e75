import type { Customer, MerchantNotes, TransactionType } from '@gateway/contracts';
import { Secret, TRANSACTION_TYPES } from '@gateway/contracts';
import type { RawFields } from './body';
import type { CardData, CardRequest, CardRequests, CardToken, CofType, FullCard } from './card-request';
import { readCustomFields } from './custom-fields';
import * as rule from './field-rules';
import type { FieldNeed, FieldProblem, FieldReader, FieldRow } from './field-table';
import { Findings, checkRows } from './field-table';
import { maskCardNumbers } from './masking';

/** How a kind of request stands to a field; undefined when it does not read it, as if nobody knew the field. */
type Column = FieldNeed | undefined;

const R: Column = 'required';
const O: Column = 'optional';
const X: Column = 'forbidden';
const _: Column = undefined;
/** Card data, which a token replaces. */
const C: Column = { beside: 'token', then: 'forbidden', otherwise: 'required' };
/** The CVV, which is optional card data. */
const V: Column = { beside: 'token', then: 'forbidden', otherwise: 'optional' };
/** CHECK takes either of the two. */
const E: Column = { beside: 'reference', then: 'optional', otherwise: 'required' };
/** The two go together. */
const P: Column = { beside: 'pares', then: 'required', otherwise: 'optional' };
const Q: Column = { beside: 'reference', then: 'required', otherwise: 'optional' };

/** One for each of TRANSACTION_TYPES, in their order. */
type Columns = readonly [Column, Column, Column, Column, Column, Column, Column, Column, Column];
type TableRow = readonly [columns: Columns, name: string, read: FieldReader];

/**
 * The interface's table, in its order: the first field that fails gives the answer. `api_version`, the credentials
 * and `transaction_type` are checked before.
 */
const TABLE: readonly TableRow[] = [
  // AUTH, AUTH3D, SALE, SALE3D, SETTLE, VOID, REFUND, CHECK, TOKENIZE
  [[R, R, R, R, R, R, R, _, R], 'transaction_unique_id', rule.newUniqueId],
  [[_, _, _, _, _, _, _, E, _], 'transaction_unique_id', rule.knownUniqueId],
  [[R, R, R, R, R, X, R, _, _], 'amount', rule.amount],
  [[R, R, R, R, R, X, R, _, _], 'currency', rule.currency],
  [[C, R, C, R, _, _, _, _, R], 'card_number', rule.cardNumber],
  [[C, R, C, R, _, _, _, _, R], 'card_exp_month', rule.cardExpMonth],
  [[C, R, C, R, _, _, _, _, R], 'card_exp_year', rule.cardExpYear],
  [[V, O, V, O, _, _, _, _, O], 'cvv', rule.cvv],
  [[O, X, O, X, _, _, _, _, X], 'token', rule.token],
  [[R, R, R, R, _, _, _, _, R], 'card_holder', rule.freeText(2, 32)],
  [[R, R, R, R, _, _, _, _, _], 'first_name', rule.freeText(1, 32)],
  [[R, R, R, R, _, _, _, _, _], 'last_name', rule.freeText(1, 32)],
  [[O, O, O, O, _, _, _, _, _], 'address', rule.freeText(2, 64)],
  [[O, O, O, O, _, _, _, _, _], 'city', rule.freeText(2, 32)],
  [[O, O, O, O, _, _, _, _, _], 'state', rule.freeText(1, 32)],
  [[O, O, O, O, _, _, _, _, _], 'zip', rule.freeText(2, 10)],
  [[R, R, R, R, _, _, _, _, _], 'country', rule.country],
  [[O, O, O, O, _, _, _, _, _], 'user_phone', rule.userPhone],
  [[R, R, R, R, _, _, _, _, _], 'user_email', rule.userEmail],
  [[R, R, R, R, _, _, _, _, _], 'user_ip', rule.userIp],
  [[_, O, _, R, _, _, _, _, _], 'callback_url', rule.httpsUrl],
  [[_, O, _, R, _, _, _, _, _], 'redirect_url', rule.httpsUrl],
  [[P, _, P, _, R, R, R, O, _], 'reference', rule.reference],
  [[O, O, O, O, O, O, O, _, _], 'merchant_user_id', rule.freeText(0, 32)],
  [[O, O, O, O, O, _, _, _, _], 'merchant_domain_name', rule.freeText(0, 255)],
  [[O, O, O, O, O, _, _, _, _], 'merchant_affiliate_id', rule.freeText(0, 255)],
  [[O, O, O, O, O, _, _, _, _], 'merchant_product_name', rule.freeText(0, 255)],
  [[O, O, O, O, O, O, O, _, _], 'descriptor_merchant', rule.freeText(0, 255)],
  [[O, O, O, O, O, O, O, _, _], 'descriptor_phone', rule.freeText(0, 255)],
  [[O, O, O, O, _, _, _, _, _], 'mid_reference', rule.midReference],
  [[O, O, O, O, _, _, _, _, _], 'date_of_birth', rule.dateOfBirth],
  [[O, O, O, O, _, _, _, _, _], 'cof_type', rule.cofType],
];
/** The interface names it below its table; `custom_*` fields come between. */
const LAST: readonly TableRow[] = [[[Q, _, Q, _, _, _, _, _, _], 'pares', rule.pares]];

/** Only the rows that a request of this type reads or refuses. */
function rowsOf(table: readonly TableRow[], type: TransactionType): FieldRow[] {
  const column = TRANSACTION_TYPES.indexOf(type);
  return table.flatMap(([columns, name, read]) => {
    const need = columns[column];
    return need === undefined ? [] : [{ name, need, read }];
  });
}

function byType(table: readonly TableRow[]): ReadonlyMap<TransactionType, readonly FieldRow[]> {
  return new Map(TRANSACTION_TYPES.map((type) => [type, rowsOf(table, type)]));
}

const tableRows = byType(TABLE);
const lastRows = byType(LAST);

export type FieldCheck<Request = CardRequest> =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

/**
 * Step 5 of the order of checks (decisions.md, section 2). All problems are told, in the order of the interface's
 * table; the first one's code and message are the answer's. `nowMs` is the time, in ms since 1970: a date of birth
 * lies before it.
 */
export function checkFields<T extends TransactionType>(
  type: T,
  fields: RawFields,
  nowMs: number,
): FieldCheck<CardRequests[T]> {
  const findings = new Findings();
  checkRows(tableRows.get(type) ?? [], fields, nowMs, findings);
  const custom = readCustomFields(fields, findings);
  checkRows(lastRows.get(type) ?? [], fields, nowMs, findings);

  const [first, ...others] = findings.problems;
  if (first !== undefined) return { ok: false, problems: [first, ...others] };
  const build: Builders[T] = BUILDERS[type];
  return { ok: true, request: build(findings, custom) };
}

type Custom = MerchantNotes['custom'];
type Builders = { readonly [T in TransactionType]: (found: Findings, custom: Custom) => CardRequests[T] };

const BUILDERS: Builders = {
  AUTH: (found, custom) => ({ ...charge('AUTH', found, custom), instrument: instrument(found), ...proof(found) }),
  SALE: (found, custom) => ({ ...charge('SALE', found, custom), instrument: instrument(found), ...proof(found) }),
  AUTH3D: (found, custom) => ({
    ...charge('AUTH3D', found, custom),
    instrument: fullCard(found),
    ...texts(found, { callbackUrl: 'callback_url', redirectUrl: 'redirect_url' }),
  }),
  SALE3D: (found, custom) => ({
    ...charge('SALE3D', found, custom),
    instrument: fullCard(found),
    callbackUrl: found.text('callback_url'),
    redirectUrl: found.text('redirect_url'),
  }),
  SETTLE: (found, custom) => ({ ...followUp('SETTLE', found, custom), ...money(found) }),
  VOID: (found, custom) => followUp('VOID', found, custom),
  REFUND: (found, custom) => ({ ...followUp('REFUND', found, custom), ...money(found) }),
  CHECK: (found) => {
    const transactionUniqueId = found.optionalText('transaction_unique_id');
    const by = transactionUniqueId === undefined ? { reference: found.text('reference') } : { transactionUniqueId };
    return { transactionType: 'CHECK', by };
  },
  TOKENIZE: (found, custom) => ({ ...operation('TOKENIZE', found, custom), card: cardDetails(found) }),
};

function operation<T extends TransactionType>(transactionType: T, found: Findings, custom: Custom) {
  return { transactionType, transactionUniqueId: found.text('transaction_unique_id'), notes: notes(found, custom) };
}

function followUp<T extends TransactionType>(transactionType: T, found: Findings, custom: Custom) {
  return { ...operation(transactionType, found, custom), baseReference: found.text('reference') };
}

function charge<T extends TransactionType>(transactionType: T, found: Findings, custom: Custom) {
  const cof = found.optionalText('cof_type');
  return {
    ...operation(transactionType, found, custom),
    ...money(found),
    ...texts(found, { midReference: 'mid_reference' }),
    ...(cof === undefined ? {} : { cofType: cof as CofType }),
    customer: customer(found),
  };
}

function money(found: Findings) {
  return { amountE4: found.number('amount'), currency: found.text('currency') };
}

function instrument(found: Findings): FullCard | CardToken {
  const token = found.optionalText('token');
  // The vault knows the token's cardholder; the one in the request is not kept.
  return token === undefined ? fullCard(found) : { kind: 'token', token: presentable(token) };
}

/** decisions.md, section 4: tokens have UUID form. */
const TOKEN_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whatever else is sent as a token is unknown, and goes on record as such: without the card number that it may hold. */
function presentable(token: string): string {
  return TOKEN_FORM.test(token) ? token : maskCardNumbers(token);
}

function fullCard(found: Findings): FullCard {
  const cvv = found.optionalText('cvv');
  return { kind: 'card', card: cardDetails(found), ...(cvv === undefined ? {} : { cvv: new Secret(cvv) }) };
}

function cardDetails(found: Findings): Secret<CardData> {
  return new Secret({
    pan: found.text('card_number'),
    expMonth: found.text('card_exp_month'),
    expYear: found.text('card_exp_year'),
    holder: found.text('card_holder'),
  });
}

function proof(found: Findings) {
  const pares = found.optionalText('pares');
  return pares === undefined ? {} : { authentication: { reference: found.text('reference'), pares } };
}

function customer(found: Findings): Customer {
  return {
    firstName: found.text('first_name'),
    lastName: found.text('last_name'),
    country: found.text('country'),
    email: found.text('user_email'),
    ip: found.text('user_ip'),
    ...texts(found, {
      address: 'address',
      city: 'city',
      state: 'state',
      zip: 'zip',
      phone: 'user_phone',
      dateOfBirth: 'date_of_birth',
    }),
  };
}

function notes(found: Findings, custom: Custom): MerchantNotes {
  return {
    ...texts(found, {
      userId: 'merchant_user_id',
      domainName: 'merchant_domain_name',
      affiliateId: 'merchant_affiliate_id',
      productName: 'merchant_product_name',
      descriptor: 'descriptor_merchant',
      descriptorPhone: 'descriptor_phone',
    }),
    ...(custom === undefined ? {} : { custom }),
  };
}

/** The optional texts that were sent, under the properties' names. */
function texts<K extends string>(found: Findings, names: Readonly<Record<K, string>>): { [P in K]?: string } {
  const sent: { [P in K]?: string } = {};
  for (const property in names) {
    const value = found.optionalText(names[property]);
    if (value !== undefined) sent[property] = value;
  }
  return sent;
}
