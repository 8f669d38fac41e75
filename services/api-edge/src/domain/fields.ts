import type { Customer, MerchantNotes, TransactionType } from '@gateway/contracts';
import { Secret, TRANSACTION_TYPES, maskCardNumbers } from '@gateway/contracts';
import type {
  CardData,
  CardRequests,
  CardToken,
  CheckoutRequest,
  CheckoutType,
  CofType,
  FullCard,
} from './card-request';
import type { RequestTable } from './field-check';
import { texts } from './field-check';
import type { FieldName } from './field-names';
import * as rule from './field-rules';
import type { FieldNeed, FieldRow, FieldRule, Findings } from './field-table';
import { row } from './field-table';

/** Whether a kind of request requires, allows or forbids a field; undefined if it ignores the field. */
type Column = FieldNeed | undefined;

const R: Column = 'required';
const O: Column = 'optional';
const X: Column = 'forbidden';
const _: Column = undefined;
/** Card data, which a token replaces. */
const C: Column = { beside: 'token', then: 'forbidden', otherwise: 'required' };
/** The CVV, which is optional card data. */
const V: Column = { beside: 'token', then: 'forbidden', otherwise: 'optional' };
/** CHECK needs one of the two. */
const E: Column = { beside: 'reference', then: 'optional', otherwise: 'required' };
/** Both or neither. */
const P: Column = { beside: 'pares', then: 'required', otherwise: 'optional' };
const Q: Column = { beside: 'reference', then: 'required', otherwise: 'optional' };

/** Only of accounts with callbacks about holds; all others may send anything there, as the interface has no such field. */
const H = 'with hold callbacks';

/** The columns of the table, in order. */
const KINDS = [...TRANSACTION_TYPES, 'CHECKOUT'] as const;
type Kind = (typeof KINDS)[number];
type ColumnsOf<Kinds extends readonly unknown[]> = { readonly [Index in keyof Kinds]: Column | typeof H };
type Columns = ColumnsOf<typeof KINDS>;
type TableRow = readonly [columns: Columns, name: FieldName, rule: FieldRule];

/**
 * The interface's table, in its order: the first failing field determines the answer. `api_version`, the credentials
 * and `transaction_type` are checked earlier. A checkout is a request for a card-entry page, of any type.
 */
const TABLE: readonly TableRow[] = [
  // AUTH, AUTH3D, SALE, SALE3D, SETTLE, VOID, REFUND, CHECK, TOKENIZE, checkout
  [[R, R, R, R, R, R, R, _, R, R], 'transaction_unique_id', rule.newUniqueId(11)],
  [[_, _, _, _, _, _, _, E, _, _], 'transaction_unique_id', rule.knownUniqueId(11)],
  [[R, R, R, R, R, X, R, _, _, R], 'amount', rule.amount],
  [[R, R, R, R, R, X, R, _, _, R], 'currency', rule.currency],
  [[C, R, C, R, _, _, _, _, R, X], 'card_number', rule.cardNumber],
  [[C, R, C, R, _, _, _, _, R, X], 'card_exp_month', rule.cardExpMonth],
  [[C, R, C, R, _, _, _, _, R, X], 'card_exp_year', rule.cardExpYear],
  [[V, O, V, O, _, _, _, _, O, X], 'cvv', rule.cvv],
  [[O, X, O, X, _, _, _, _, X, X], 'token', rule.token],
  [[R, R, R, R, _, _, _, _, R, _], 'card_holder', rule.cardHolder],
  [[R, R, R, R, _, _, _, _, _, R], 'first_name', rule.freeText(1, 32, 'Ann')],
  [[R, R, R, R, _, _, _, _, _, R], 'last_name', rule.freeText(1, 32, 'Lee')],
  [[O, O, O, O, _, _, _, _, _, O], 'address', rule.freeText(2, 64, 'Long Street 5')],
  [[O, O, O, O, _, _, _, _, _, O], 'city', rule.freeText(2, 32, 'Berlin')],
  [[O, O, O, O, _, _, _, _, _, O], 'state', rule.freeText(1, 32, 'BE')],
  [[O, O, O, O, _, _, _, _, _, O], 'zip', rule.freeText(2, 10, '10115')],
  [[R, R, R, R, _, _, _, _, _, R], 'country', rule.country],
  [[O, O, O, O, _, _, _, _, _, O], 'user_phone', rule.userPhone],
  [[R, R, R, R, _, _, _, _, _, R], 'user_email', rule.userEmail],
  [[R, R, R, R, _, _, _, _, _, R], 'user_ip', rule.userIp],
  [[H, O, _, R, _, _, _, _, _, O], 'callback_url', rule.httpsUrl],
  [[_, O, _, R, _, _, _, _, _, R], 'redirect_url', rule.httpsUrl],
  [[P, _, P, _, R, R, R, O, _, _], 'reference', rule.reference],
  [[O, O, O, O, O, O, O, _, _, O], 'merchant_user_id', rule.freeText(0, 32, 'user-17')],
  [[O, O, O, O, O, _, _, _, _, O], 'merchant_domain_name', rule.freeText(0, 255, 'shop.example')],
  [[O, O, O, O, O, _, _, _, _, O], 'merchant_affiliate_id', rule.freeText(0, 255, 'partner-5')],
  [[O, O, O, O, O, _, _, _, _, O], 'merchant_product_name', rule.freeText(0, 255, 'Blue shirt')],
  [[O, O, O, O, O, O, O, _, _, O], 'descriptor_merchant', rule.freeText(0, 255, 'SHOP EXAMPLE')],
  [[O, O, O, O, O, O, O, _, _, O], 'descriptor_phone', rule.freeText(0, 255, '+4930123456')],
  [[O, O, O, O, _, _, _, _, _, O], 'mid_reference', rule.midReference],
  [[O, O, O, O, _, _, _, _, _, O], 'date_of_birth', rule.dateOfBirth],
  [[O, O, O, O, _, _, _, _, _, O], 'cof_type', rule.cofType],
];
/** The interface lists it below its table; `custom_*` fields come between. */
const LAST: readonly TableRow[] = [[[Q, _, Q, _, _, _, _, _, _, _], 'pares', rule.pares]];

/** Only the rows that a request of this kind reads or forbids. */
function rowsOf(table: readonly TableRow[], kind: Kind, withHoldCallbacks: boolean): FieldRow[] {
  const column = KINDS.indexOf(kind);
  return table.flatMap(([columns, name, rule]) => {
    const need = columns[column] === H ? (withHoldCallbacks ? O : _) : columns[column];
    return need === undefined ? [] : [row(name, need, rule)];
  });
}

/** The fields of a request of this type. `withHoldCallbacks` adds what only accounts with callbacks about holds may send. */
export function cardTable<T extends TransactionType>(
  type: T,
  { withHoldCallbacks = false }: { withHoldCallbacks?: boolean } = {},
): RequestTable<CardRequests[T]> {
  const rows = rowsOf(TABLE, type, withHoldCallbacks);
  return { rows, lastRows: rowsOf(LAST, type, withHoldCallbacks), build: BUILDERS[type] };
}

/** The same for a request for a card-entry page. */
export function checkoutTable(type: CheckoutType): RequestTable<CheckoutRequest> {
  return {
    rows: rowsOf(TABLE, 'CHECKOUT', false),
    lastRows: rowsOf(LAST, 'CHECKOUT', false),
    build: (found, custom) => ({
      ...cardOperation(type, found, custom),
      redirectUrl: found.text('redirect_url'),
    }),
  };
}

type Custom = MerchantNotes['custom'];
type Builders = { readonly [T in TransactionType]: (found: Findings, custom: Custom) => CardRequests[T] };

const BUILDERS: Builders = {
  AUTH: (found, custom) => ({
    ...cardOperation('AUTH', found, custom),
    instrument: instrument(found),
    ...proof(found),
  }),
  SALE: (found, custom) => ({
    ...cardOperation('SALE', found, custom),
    instrument: instrument(found),
    ...proof(found),
  }),
  AUTH3D: (found, custom) => ({
    ...cardOperation('AUTH3D', found, custom),
    instrument: fullCard(found),
    ...texts(found, { redirectUrl: 'redirect_url' }),
  }),
  SALE3D: (found, custom) => ({
    ...cardOperation('SALE3D', found, custom),
    instrument: fullCard(found),
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

function cardOperation<T extends TransactionType>(transactionType: T, found: Findings, custom: Custom) {
  const cof = found.optionalText('cof_type');
  return {
    ...operation(transactionType, found, custom),
    ...money(found),
    ...texts(found, { midReference: 'mid_reference', callbackUrl: 'callback_url' }),
    ...(cof === undefined ? {} : { cofType: cof as CofType }),
    customer: customer(found),
  };
}

function money(found: Findings) {
  return { amountE4: found.number('amount'), currency: found.text('currency') };
}

function instrument(found: Findings): FullCard | CardToken {
  const token = found.optionalText('token');
  // The vault knows the token's cardholder; the request's is not kept.
  return token === undefined ? fullCard(found) : { kind: 'token', token: presentable(token) };
}

/** decisions.md, section 4: tokens have UUID form. */
const TOKEN_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Any other token is unknown, and is recorded so, with a card number in it masked. */
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
