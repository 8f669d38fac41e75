import { shownParameters } from '@gateway/accounts';
import type { CardAnswer, Complete, OperationOutcome } from '@gateway/contracts';
import { activatedValues, given, paymentIdOf } from '@gateway/contracts';
import type { Operation, Payment } from '../domain/payment';
import { findOperation, holdInEffect } from '../domain/payment';
import { customValues } from './custom-parameters';
import type { Ports, StoredPayment } from './ports';

/** The status of an operation, with the custom parameters that its account has activated. */
export async function outcomeOf(
  ports: Pick<Ports, 'accounts'>,
  payment: StoredPayment,
  reference: string,
): Promise<OperationOutcome | undefined> {
  const operation = findOperation(payment, reference);
  if (operation === undefined) return undefined;
  const account = await ports.accounts.find(payment.merchantAccount);
  const custom = activatedValues(
    account === undefined ? [] : shownParameters(account),
    customValues(payment, operation),
  );
  return record(payment, operation, { custom });
}

/** All operations of a payment as CHECK shows them, oldest first. @param withHoldEnd as the account wants it */
export function outcomesOf(payment: StoredPayment, { withHoldEnd }: { withHoldEnd: boolean }): OperationOutcome[] {
  const hold = withHoldEnd ? holdInEffect(payment) : undefined;
  return payment.operations.map((operation) =>
    record(payment, operation, { holdEndsAt: operation.reference === hold?.reference ? hold.expiresAt : undefined }),
  );
}

function record(
  payment: StoredPayment,
  operation: Operation,
  more: { custom?: OperationOutcome['custom'] | undefined; holdEndsAt?: number | undefined },
): OperationOutcome {
  const { reference, baseReference } = operation;
  return given<OperationOutcome>({
    paymentId: paymentIdOf(reference),
    baseReference,
    merchantAccount: payment.merchantAccount,
    ...answerOf(payment, operation),
    custom: undefined,
    ...more,
  });
}

/** The fields that merchants see in answers and callbacks, as in the contracts' table. */
export function answerOf(payment: Payment, operation: Operation): Complete<CardAnswer> {
  const { authentication } = operation;
  return {
    reference: operation.reference,
    transactionUniqueId: operation.transactionUniqueId,
    transactionType: operation.type,
    token: tokenOf(payment, operation),
    timestamp: operation.acceptedAt,
    authcode: operation.authcode,
    status: operation.status,
    code: operation.code,
    message: operation.message,
    acsUrl: authentication?.acsUrl,
    pareq: authentication?.pareq,
    // Not known before a challenge.
    eci: authentication?.challenged === true ? undefined : authentication?.eci,
    // Only in CHECK, and in callbacks about a hold.
    holdEndsAt: undefined,
    event: undefined,
  };
}

/**
 * The card of an operation. A follow-up has none of its own: it takes that of the operation it builds on, because the
 * attempts on a card-entry page may have a card each.
 */
function tokenOf(payment: Payment, operation: Operation): string | undefined {
  let current: Operation | undefined = operation;
  // Bounded: a refused operation may name any base, even one that was based on it later.
  for (let count = 0; count < payment.operations.length; count += 1) {
    if (current?.token !== undefined || current?.baseReference === undefined) return current?.token;
    current = findOperation(payment, current.baseReference);
  }
  return undefined;
}
