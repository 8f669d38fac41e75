import type { OperationOutcome } from '@gateway/contracts';
import { activatedValues, paymentIdOf } from '@gateway/contracts';
import type { Operation } from '../domain/payment';
import { findOperation } from '../domain/payment';
import { customValues } from './custom-parameters';
import type { Ports, StoredPayment } from './ports';

/** How an operation stands, with the custom parameters that its account has activated. */
export async function outcomeOf(
  ports: Pick<Ports, 'accounts'>,
  payment: StoredPayment,
  reference: string,
): Promise<OperationOutcome | undefined> {
  const operation = findOperation(payment, reference);
  if (operation === undefined) return undefined;
  const account = await ports.accounts.find(payment.merchantAccount);
  const custom = activatedValues(account?.customParameters ?? [], customValues(payment, operation));
  return { ...record(payment, operation), ...(custom === undefined ? {} : { custom }) };
}

/** Every operation of a payment as CHECK shows them, oldest first. */
export function outcomesOf(payment: StoredPayment): OperationOutcome[] {
  return payment.operations.map((operation) => record(payment, operation));
}

function record(payment: StoredPayment, operation: Operation): OperationOutcome {
  const token = operation.token ?? payment.operations.find(({ token: known }) => known !== undefined)?.token;
  return {
    paymentId: paymentIdOf(operation.reference),
    reference: operation.reference,
    ...(operation.baseReference === undefined ? {} : { baseReference: operation.baseReference }),
    merchantAccount: payment.merchantAccount,
    transactionUniqueId: operation.transactionUniqueId,
    transactionType: operation.type,
    status: operation.status,
    code: operation.code,
    message: operation.message,
    ...(token === undefined ? {} : { token }),
    authcode: operation.authcode,
    timestamp: operation.acceptedAt,
    ...firstAnswer(operation),
  };
}

/** What an AUTH3D or SALE3D is answered with at once; before a challenge nobody knows an ECI. */
function firstAnswer({ authentication }: Operation): Pick<OperationOutcome, 'acsUrl' | 'pareq' | 'eci'> {
  const { acsUrl, pareq, eci, challenged } = authentication ?? {};
  return {
    ...(acsUrl === undefined ? {} : { acsUrl }),
    ...(pareq === undefined ? {} : { pareq }),
    ...(eci === undefined || challenged === true ? {} : { eci }),
  };
}
