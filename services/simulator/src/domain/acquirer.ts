import { messageOfCode, RESPONSE_CODES } from '@gateway/contracts';
import * as keyed from './keyed';
import type { LedgerEntry } from './ledger';
import type { MaskedCard } from './masked-card';
import type { Behaviour } from './triggers';
import { behaviourOfAmount, behaviourOfVoid } from './triggers';

export const ACQUIRER_OPERATIONS = ['authorize', 'sale', 'capture', 'void', 'refund'] as const;
export type AcquirerOperation = (typeof ACQUIRER_OPERATIONS)[number];

/** The part of a request that the acquirer keeps; null for fields that the request did not carry. */
export interface OperationRequest extends keyed.KeyedRequest {
  operation: AcquirerOperation;
  card: MaskedCard | null;
  /** Null only in a void, which then refers to the payment's authorization. */
  originalTransactionId: string | null;
  mid: string | null;
  eci: string | null;
}

/** True if a repeated idempotency key arrives with the same request, as far as the acquirer kept it. */
export function sameRequest(a: OperationRequest, b: OperationRequest): boolean {
  return (
    a.operation === b.operation &&
    a.reference === b.reference &&
    a.amountE4 === b.amountE4 &&
    a.currency === b.currency &&
    a.card?.brand === b.card?.brand &&
    a.card?.last4 === b.card?.last4 &&
    a.originalTransactionId === b.originalTransactionId &&
    a.mid === b.mid &&
    a.eci === b.eci
  );
}

/** What a commit stores besides the request. */
export interface Approval {
  transactionId: string;
  authcode: string | null;
  /**
   * The transaction that this one uses up. A transaction has at most one approved follower: an authorization is
   * captured or voided once, a sale or capture is refunded or voided late once.
   */
  follows: string | null;
  /** The money moved or released: a void releases its original's amount. */
  amountE4: number;
  currency: string;
}

export type ApprovedOperation = keyed.ApprovedRecord<OperationRequest, Approval>;
export type OperationRecord = keyed.KeyedRecord<OperationRequest, Approval>;

/** Undefined for an id that this bank never gave out. */
export function keyOfTransaction(transactionId: string): string | undefined {
  const prefix = keyed.TRANSACTION_PREFIX;
  return transactionId.startsWith(prefix) ? transactionId.slice(prefix.length) : undefined;
}

export interface OperationFacts {
  /** Epoch ms. */
  now: number;
  /** Used if an authorization or sale is approved. */
  newAuthcode: string;
}

/**
 * Decides on a new key. `chain` holds the payment's transactions, oldest first, each following the one before it;
 * empty if none was found.
 */
export function decideOperation(
  request: OperationRequest,
  chain: readonly ApprovedOperation[],
  facts: OperationFacts,
): keyed.Decision<OperationRequest, Approval> {
  const approval = approvalOf(request, chain, facts);
  if (approval === undefined) return keyed.answered(keyed.declined(request, keyed.NO_SUCH_TRANSACTION, facts.now));
  return keyed.behave(request, approval, behaviourOf(request, approval, chain), facts.now);
}

function behaviourOf(request: OperationRequest, approval: Approval, chain: readonly ApprovedOperation[]): Behaviour {
  const authorization = chain[0]?.approval;
  return request.operation === 'void'
    ? behaviourOfVoid(authorization?.amountE4 ?? 0, approval.currency)
    : behaviourOfAmount(approval.amountE4, approval.currency);
}

/** Undefined if the books do not allow the operation, whatever its amount would force. */
function approvalOf(
  request: OperationRequest,
  chain: readonly ApprovedOperation[],
  facts: OperationFacts,
): Approval | undefined {
  const transactionId = keyed.transactionIdOf(request.idempotencyKey);
  switch (request.operation) {
    case 'authorize':
    case 'sale': {
      const { amountE4, currency } = request;
      if (amountE4 === null || currency === null) return undefined;
      return { transactionId, authcode: facts.newAuthcode, follows: null, amountE4, currency };
    }
    case 'capture':
      return moneyFollowUp(request, chain, ['authorize']);
    case 'refund':
      return moneyFollowUp(request, chain, ['sale', 'capture']);
    case 'void':
      return voidOf(request, chain);
  }
}

function moneyFollowUp(
  request: OperationRequest,
  chain: readonly ApprovedOperation[],
  mayFollow: readonly string[],
): Approval | undefined {
  const original = chain.at(-1);
  const { amountE4, currency } = request;
  if (original === undefined || amountE4 === null || currency === null) return undefined;
  if (original.approval.transactionId !== request.originalTransactionId) return undefined;
  if (!mayFollow.includes(original.request.operation)) return undefined;
  if (amountE4 > original.approval.amountE4 || currency !== original.approval.currency) return undefined;
  return {
    transactionId: keyed.transactionIdOf(request.idempotencyKey),
    // A capture reuses the authorization's code; a refund has none.
    authcode: request.operation === 'capture' ? original.approval.authcode : null,
    follows: original.approval.transactionId,
    amountE4,
    currency,
  };
}

/** Releases an authorization without followers or, late, one that was captured and not refunded. */
function voidOf(request: OperationRequest, chain: readonly ApprovedOperation[]): Approval | undefined {
  const [authorization] = chain;
  const latest = chain.at(-1);
  if (authorization?.request.operation !== 'authorize' || latest === undefined) return undefined;
  if (latest !== authorization && latest.request.operation !== 'capture') return undefined;
  return {
    transactionId: keyed.transactionIdOf(request.idempotencyKey),
    authcode: null,
    follows: latest.approval.transactionId,
    amountE4: latest.approval.amountE4,
    currency: latest.approval.currency,
  };
}

const effects: Record<AcquirerOperation, string> = {
  authorize: 'authorized',
  sale: 'sold',
  capture: 'captured',
  void: 'voided',
  refund: 'refunded',
};

/** Undefined while nothing has happened. */
export function operationEntryOf(record: OperationRecord): LedgerEntry | undefined {
  const operation = record.request?.operation ?? null;
  const entry = { ...keyed.ledgerLineOf(record), operation, eci: record.request?.eci ?? null };
  switch (record.state) {
    case 'approved': {
      const { amountE4, currency } = record.approval;
      return { ...entry, amountE4, currency, effect: effects[record.request.operation] };
    }
    case 'declined':
    case 'cancelled':
      return { ...entry, effect: record.state };
    case 'held':
      return undefined;
  }
}

const bankItself = { id: '990001', name: 'Sandbox Acquiring Bank', descriptor: 'SANDBOX MERCHANT' };

/** The API's answer to an operation that has an outcome. */
export function operationResultOf(record: keyed.OutcomeRecord<OperationRequest, Approval>) {
  if (record.state === 'approved') {
    const { transactionId, authcode } = record.approval;
    const bank = {
      ...bankItself,
      advice: 'none',
      reasonCode: '0',
      reasonDescription: messageOfCode(RESPONSE_CODES.SUCCESS),
    };
    return { result: 'approved' as const, transactionId, authcode, bank };
  }
  const { code } = record;
  const reason = messageOfCode(code);
  const bank = { ...bankItself, advice: 'do not retry', reasonCode: String(code), reasonDescription: reason };
  return { result: 'declined' as const, code, reason, bank };
}

/** The outcome's fields with its `result` renamed to `status`, or just a status. */
export function operationInquiryAnswer(answer: keyed.InquiryAnswer<OperationRequest, Approval>) {
  switch (answer.kind) {
    case 'outcome': {
      const { result: status, ...rest } = operationResultOf(answer.record);
      return { status, ...rest };
    }
    case 'not-found':
      return { status: 'not_found' };
    case 'unknown':
    case 'cancelled':
      return { status: answer.kind };
  }
}

export function operationCancellationAnswer(answer: keyed.CancellationAnswer<OperationRequest, Approval>) {
  return answer.kind === 'outcome'
    ? { status: 'already_processed', ...operationResultOf(answer.record) }
    : { status: answer.kind };
}
