import type { Decision } from '../keyed/behave';
import { answered, behave } from '../keyed/behave';
import { declined, NO_SUCH_TRANSACTION, transactionIdOf } from '../keyed/record';
import type { Behaviour } from '../keyed/triggers';
import { behaviourOfAmount, behaviourOfVoid } from '../keyed/triggers';
import type { OperationRequest } from './operation';
import type { Approval, ApprovedRecord } from './record';

export interface Facts {
  /** Epoch ms. */
  now: number;
  /** For an authorization or sale, should it be approved. */
  newAuthcode: string;
}

/**
 * Decides on a key that nobody used before. `chain` is what the bank knows of the payment, oldest first, each
 * transaction following the one before it; empty where nothing was found.
 */
export function decideOperation(
  request: OperationRequest,
  chain: readonly ApprovedRecord[],
  facts: Facts,
): Decision<OperationRequest, Approval> {
  const approval = approvalOf(request, chain, facts);
  if (approval === undefined) return answered(declined(request, NO_SUCH_TRANSACTION, facts.now));
  return behave(request, approval, behaviourOf(request, approval, chain), facts.now);
}

function behaviourOf(request: OperationRequest, approval: Approval, chain: readonly ApprovedRecord[]): Behaviour {
  const authorization = chain[0]?.approval;
  return request.operation === 'void'
    ? behaviourOfVoid(authorization?.amountE4 ?? 0, approval.currency)
    : behaviourOfAmount(approval.amountE4, approval.currency);
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
