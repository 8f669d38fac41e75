import type { OperationRequest } from './operation';
import { sameRequest } from './operation';
import type { AcquirerRecord, Approval, ApprovedRecord, HeldRecord } from './record';
import { declined, transactionIdOf } from './record';
import type { OperationResult } from './results';
import { approvedResult, declinedResult } from './results';
import type { Behaviour, Misbehaviour } from './triggers';
import { behaviourOfAmount, behaviourOfVoid } from './triggers';

/** What the caller of an operation gets to see, or does not. */
export type Reaction =
  | { kind: 'answer'; result: OperationResult }
  /** The key came before with another body. */
  | { kind: 'other-request' }
  | { kind: 'cancelled' }
  | { kind: 'silence' }
  | { kind: 'garbage' }
  | { kind: 'dropped-connection' }
  | { kind: 'failure' };

/** What is to be stored under the key, if anything, and the reaction once it is. */
export interface Decision {
  record: AcquirerRecord | undefined;
  reaction: Reaction;
}

export interface Facts {
  /** Epoch ms. */
  now: number;
  /** For an authorization or sale, should it be approved. */
  newAuthcode: string;
}

/** "Invalid acquirer reference": what the bank says to a follow-up that does not fit. Seeing it means a gateway bug. */
const NO_SUCH_TRANSACTION = 3122;
const UNKNOWN_INQUIRIES = 2;

/**
 * Decides on a key that nobody used before. `chain` is what the bank knows of the payment, oldest first, each
 * transaction following the one before it; empty where nothing was found.
 */
export function decideOperation(request: OperationRequest, chain: readonly ApprovedRecord[], facts: Facts): Decision {
  const approval = approvalOf(request, chain, facts);
  if (approval === undefined) return decline(request, NO_SUCH_TRANSACTION, facts);
  return behave(request, approval, behaviourOf(request, approval, chain), facts);
}

function behaviourOf(request: OperationRequest, approval: Approval, chain: readonly ApprovedRecord[]): Behaviour {
  const authorization = chain[0]?.approval;
  return request.operation === 'void'
    ? behaviourOfVoid(authorization?.amountE4 ?? 0, approval.currency)
    : behaviourOfAmount(approval.amountE4, approval.currency);
}

function behave(request: OperationRequest, approval: Approval, behaviour: Behaviour, facts: Facts): Decision {
  switch (behaviour.kind) {
    case 'approve': {
      const record = approve(request, approval, facts);
      return { record, reaction: { kind: 'answer', result: approvedResult(record) } };
    }
    case 'decline':
      return decline(request, behaviour.code, facts);
    case 'misbehave':
      return misbehave(request, approval, behaviour.how, facts);
  }
}

function misbehave(request: OperationRequest, approval: Approval, how: Misbehaviour, facts: Facts): Decision {
  switch (how) {
    case 'commits-and-never-answers':
      return { record: approve(request, approval, facts), reaction: { kind: 'silence' } };
    case 'commits-and-answers-garbage':
      return { record: approve(request, approval, facts), reaction: { kind: 'garbage' } };
    case 'commits-and-says-unknown':
      return {
        record: { ...approve(request, approval, facts), unknownInquiriesLeft: UNKNOWN_INQUIRIES },
        reaction: { kind: 'answer', result: { result: 'unknown' } },
      };
    case 'commits-after-first-inquiry':
      return { record: hold(request, approval, facts), reaction: { kind: 'silence' } };
    case 'drops-connection-before-commit':
      return { record: undefined, reaction: { kind: 'dropped-connection' } };
    case 'fails-before-commit':
      return { record: undefined, reaction: { kind: 'failure' } };
  }
}

function approve(request: OperationRequest, approval: Approval, { now }: Facts): ApprovedRecord {
  const { idempotencyKey, reference } = request;
  return { state: 'approved', idempotencyKey, reference, at: now, request, approval, unknownInquiriesLeft: 0 };
}

function hold(request: OperationRequest, approval: Approval, { now }: Facts): HeldRecord {
  const { idempotencyKey, reference } = request;
  return { state: 'held', idempotencyKey, reference, at: now, request, approval, commitDue: false };
}

function decline(request: OperationRequest, code: number, { now }: Facts): Decision {
  const record = declined(request, code, now);
  return { record, reaction: { kind: 'answer', result: declinedResult(record) } };
}

/** Undefined when the bank's books do not allow the operation at all, whatever the amount would force. */
function approvalOf(request: OperationRequest, chain: readonly ApprovedRecord[], facts: Facts): Approval | undefined {
  const transactionId = transactionIdOf(request.idempotencyKey);
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
  chain: readonly ApprovedRecord[],
  mayFollow: readonly string[],
): Approval | undefined {
  const original = chain.at(-1);
  const { amountE4, currency } = request;
  if (original === undefined || amountE4 === null || currency === null) return undefined;
  if (original.approval.transactionId !== request.originalTransactionId) return undefined;
  if (!mayFollow.includes(original.request.operation)) return undefined;
  if (amountE4 > original.approval.amountE4 || currency !== original.approval.currency) return undefined;
  return {
    transactionId: transactionIdOf(request.idempotencyKey),
    // A capture collects under the authorization's code; a refund is no authorization.
    authcode: request.operation === 'capture' ? original.approval.authcode : null,
    follows: original.approval.transactionId,
    amountE4,
    currency,
  };
}

/** An authorization that nothing followed yet, or, late, one that was captured and not refunded. */
function voidOf(request: OperationRequest, chain: readonly ApprovedRecord[]): Approval | undefined {
  const [authorization] = chain;
  const latest = chain.at(-1);
  if (authorization?.request.operation !== 'authorize' || latest === undefined) return undefined;
  if (latest !== authorization && latest.request.operation !== 'capture') return undefined;
  return {
    transactionId: transactionIdOf(request.idempotencyKey),
    authcode: null,
    follows: latest.approval.transactionId,
    amountE4: latest.approval.amountE4,
    currency: latest.approval.currency,
  };
}

/** A key that came before: its first result again, never a second effect. */
export function decideRepetition(known: AcquirerRecord, request: OperationRequest): Reaction {
  if (known.state === 'cancelled') return { kind: 'cancelled' };
  if (!sameRequest(known.request, request)) return { kind: 'other-request' };
  switch (known.state) {
    case 'approved':
      return { kind: 'answer', result: known.unknownInquiriesLeft > 0 ? { result: 'unknown' } : approvedResult(known) };
    case 'declined':
      return { kind: 'answer', result: declinedResult(known) };
    case 'held':
      return { kind: 'silence' };
  }
}
