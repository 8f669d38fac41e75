import { randomUUID } from 'node:crypto';
import { CARD, CARD_PATH, CUSTOMER } from './card-use-cases';
import type { Fields } from './load';
import { PAYOUT } from './payout-use-cases';

/** What a merchant needs for its requests; `token` is of a tokenized card. */
export interface MerchantAccess {
  merchantAccount: string;
  password: string;
  token: string;
}

type Request = [path: string, fields: Fields];

function envelope({ merchantAccount, password }: MerchantAccess): Fields {
  return {
    api_version: 1,
    merchant_account: merchantAccount,
    merchant_password: password,
    transaction_unique_id: randomUUID(),
  };
}

export function saleOf(access: MerchantAccess, amount: string): Request {
  const money = { amount, currency: 'XTS' };
  return [CARD_PATH, { ...envelope(access), transaction_type: 'SALE', ...money, ...CUSTOMER, token: access.token }];
}

export function tokenizeOf(access: MerchantAccess): Request {
  const fields = { transaction_type: 'TOKENIZE', ...CARD, card_holder: CUSTOMER.card_holder };
  return [CARD_PATH, { ...envelope(access), ...fields }];
}

/** Without a callback unless `fields` has an address. */
export function payoutOf(access: MerchantAccess, fields: Fields): Request {
  return ['/api/mp/payout', { ...envelope(access), ...PAYOUT, ...fields }];
}

export function checkOf(access: MerchantAccess, transactionUniqueId: string): Request {
  const fields = { transaction_type: 'CHECK', transaction_unique_id: transactionUniqueId };
  return ['/api/mp/transaction', { ...envelope(access), ...fields }];
}
