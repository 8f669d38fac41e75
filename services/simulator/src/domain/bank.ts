import type { ResponseCode } from '@gateway/contracts';
import { classOfCode, messageOfCode, RESPONSE_CODES } from '@gateway/contracts';
import * as keyed from './keyed';
import type { LedgerEntry } from './ledger';
import { behaviourOfPayout } from './triggers';

/** All that the simulator keeps of a creditor's account. The name and the rest of the IBAN are dropped when read. */
export interface MaskedAccount {
  /** ISO 3166-1 alpha-2. */
  country: string;
  last4: string;
}

export function maskedAccount(iban: string): MaskedAccount {
  return { country: iban.slice(0, 2), last4: iban.slice(-4) };
}

/** A payout order as the bank keeps it. Its reference is its idempotency key. */
export interface PayoutOrder extends keyed.KeyedRequest {
  amountE4: number;
  currency: string;
  /** SEPA instant credit transfer. */
  instant: boolean;
  creditor: MaskedAccount;
}

/** True if a repeated idempotency key arrives with the same order, as far as the bank kept it. */
export function sameOrder(a: PayoutOrder, b: PayoutOrder): boolean {
  return (
    a.amountE4 === b.amountE4 &&
    a.currency === b.currency &&
    a.instant === b.instant &&
    a.creditor.country === b.creditor.country &&
    a.creditor.last4 === b.creditor.last4
  );
}

/** What a commit stores besides the order. */
export interface Settlement {
  transactionId: string;
}

export type PayoutRecord = keyed.KeyedRecord<PayoutOrder, Settlement>;

/** Decides on a new key. The bank always has the money, so only the amount counts. */
export function decidePayout(order: PayoutOrder, now: number): keyed.Decision<PayoutOrder, Settlement> {
  const settlement = { transactionId: keyed.transactionIdOf(order.idempotencyKey) };
  return keyed.behave(order, settlement, behaviourOfPayout(order.amountE4, order.currency), now);
}

/** The class of the code says how the bank refuses. */
function refusalOf(code: ResponseCode): 'declined' | 'frauded' | 'failed' {
  const codeClass = classOfCode(code);
  if (codeClass === 'bank-decline') return 'declined';
  return codeClass === 'antifraud' ? 'frauded' : 'failed';
}

/** Undefined while nothing has happened. */
export function payoutEntryOf(record: PayoutRecord): LedgerEntry | undefined {
  const entry = { ...keyed.ledgerLineOf(record), operation: record.request === null ? null : 'payout' };
  switch (record.state) {
    case 'approved':
      return { ...entry, effect: 'settled' };
    case 'declined':
      return { ...entry, effect: refusalOf(record.code) };
    case 'cancelled':
      return { ...entry, effect: 'cancelled' };
    case 'held':
      return undefined;
  }
}

const bankItself = { id: '990002', name: 'Sandbox SEPA Bank' };

/** The API's answer to a payout that has an outcome. */
export function payoutResultOf(record: keyed.OutcomeRecord<PayoutOrder, Settlement>) {
  if (record.state === 'approved') {
    const bank = {
      ...bankItself,
      advice: 'none',
      reasonCode: '0',
      reasonDescription: messageOfCode(RESPONSE_CODES.SUCCESS),
    };
    return { result: 'settled' as const, transactionId: record.approval.transactionId, bank };
  }
  const { code } = record;
  const reason = messageOfCode(code);
  const bank = { ...bankItself, advice: 'do not retry', reasonCode: String(code), reasonDescription: reason };
  return { result: refusalOf(code), code, reason, bank };
}

/** Answers an inquiry or a cancellation: the outcome's fields with its `result` renamed to `status`, or a status. */
export function payoutStatusOf(
  answer: keyed.InquiryAnswer<PayoutOrder, Settlement> | keyed.CancellationAnswer<PayoutOrder, Settlement>,
) {
  if (answer.kind !== 'outcome') return { status: answer.kind };
  const { result: status, ...rest } = payoutResultOf(answer.record);
  return { status, ...rest };
}

/** Money that came back after it was settled. A payout comes back at most once. */
export interface PayoutReturn {
  /** The payout's reference, which is also its idempotency key. */
  reference: string;
  /** ISO 20022, e.g. `AC04`: account closed. */
  reasonCode: string;
  /** When it came back, epoch ms. */
  at: number;
  /** In 1/10000 of the currency. */
  amountE4: number;
  currency: string;
}

/** Undefined unless the payout is settled. `now` in epoch ms. */
export function returnOf(known: PayoutRecord | undefined, reasonCode: string, now: number): PayoutReturn | undefined {
  if (known?.state !== 'approved') return undefined;
  const { reference, amountE4, currency } = known.request;
  return { reference, reasonCode, at: now, amountE4, currency };
}

export function returnEntryOf({ reference, at, amountE4, currency }: PayoutReturn): LedgerEntry {
  return {
    at,
    operation: 'return',
    idempotencyKey: reference,
    reference,
    amountE4,
    currency,
    eci: null,
    effect: 'returned',
  };
}
