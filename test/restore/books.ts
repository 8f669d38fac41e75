import type { Body, CheckRecord, System } from '../support/system';
import { CARD_PATH, CREDENTIALS, recordsOf } from '../support/system';
import { STATUS_PATH } from '../support/payouts';
import type { Storage } from '../support/storage';

/** What a merchant asked for, and was told. Without an answer it got none, or one that says nothing. */
export interface Asked {
  readonly path: string;
  readonly fields: Body;
  answer?: Body;
}

/** References of what took place: whose money moved, or is held. */
export interface Books {
  /** According to CHECK. */
  merchant: string[];
  /** According to the records of card-processing and payout. */
  stores: string[];
  /** According to the acquirer and the bank. What moved twice is in it twice. */
  counterparts: string[];
  /** Where CHECK contradicts what the merchant was told before. */
  contradictions: string[];
  /** What has no end yet, according to CHECK. */
  pending: string[];
}

interface Entry {
  record: { state: string; reference: string };
}

export async function readBooks(
  http: Pick<System['http'], 'post'>,
  storage: Storage,
  asked: readonly Asked[],
): Promise<Books> {
  const books: Books = { merchant: [], stores: [], counterparts: [], contradictions: [], pending: [] };
  for (const { path, fields, answer } of asked) {
    const records = await checked(http, path, String(fields['transaction_unique_id']));
    for (const record of records) {
      if (record.status === 'SUCCESS') books.merchant.push(record.reference);
      if (record.status === 'PENDING') books.pending.push(record.reference);
      else if (answer?.['reference'] === record.reference && !agree(record, answer)) {
        books.contradictions.push(`${record.reference}: told ${String(answer['code'])}, now ${record.code}`);
      }
    }
  }
  const payments = await storage.collection('cards', 'payments').find({}).toArray();
  for (const { operations } of payments as unknown as { operations: { reference: string; status: string }[] }[]) {
    for (const { reference, status } of operations) if (status === 'success') books.stores.push(reference);
  }
  const payouts = await storage.collection('payouts', 'payouts').find({ 'state.kind': 'settled' }).toArray();
  books.stores.push(...payouts.map(({ _id }) => String(_id)));
  for (const name of ['acquirer_records', 'bank_records']) {
    const entries = await storage.collection('simulator', name).find({ 'record.state': 'approved' }).toArray();
    books.counterparts.push(...(entries as unknown as Entry[]).map(({ record }) => record.reference));
  }
  // CHECK of an operation also tells what followed it.
  books.merchant = [...new Set(books.merchant)];
  for (const list of Object.values(books) as string[][]) list.sort();
  return books;
}

async function checked(http: Pick<System['http'], 'post'>, path: string, id: string): Promise<CheckRecord[]> {
  const check = { ...CREDENTIALS, transaction_type: 'CHECK', transaction_unique_id: id };
  const { data } = await http.post<Body>(path === CARD_PATH ? CARD_PATH : STATUS_PATH, check);
  return Array.isArray(data['transactions']) ? recordsOf(data) : [];
}

/** A final answer stays. 10 and 11 say that it is not known, or that nothing was begun. */
function agree({ status, code }: CheckRecord, answer: Body): boolean {
  if (answer['status'] === 'pending' || answer['code'] === 10 || answer['code'] === 11) return true;
  return status === String(answer['status']).toUpperCase() && code === answer['code'];
}
