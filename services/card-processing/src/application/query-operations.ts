import type { OperationOutcome } from '@gateway/contracts';
import { paymentIdOf } from '@gateway/contracts';
import { outcomeOf, outcomesOf } from './outcome';
import type { Ports, StoredPayment } from './ports';

type Reading = Pick<Ports, 'payments' | 'accounts'>;

/** One operation of the account's own, wherever it is on record; undefined when there is none. */
export async function findOutcome(
  ports: Reading,
  merchantAccount: string,
  reference: string,
): Promise<OperationOutcome | undefined> {
  for (const payment of await records(ports, merchantAccount, reference)) {
    const outcome = await outcomeOf(ports, payment, reference);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** All operations of the payment that `reference` belongs to, oldest first, if it is the account's own. */
export async function listOutcomes(
  ports: Reading,
  merchantAccount: string,
  reference: string,
): Promise<OperationOutcome[]> {
  const payments = await records(ports, merchantAccount, reference);
  return payments.flatMap(outcomesOf).sort((a, b) => a.timestamp - b.timestamp);
}

/** The payment's document, and the one of a refusal that stands alone. */
async function records(ports: Reading, merchantAccount: string, reference: string): Promise<StoredPayment[]> {
  const found = await Promise.all([ports.payments.load(paymentIdOf(reference)), ports.payments.load(reference)]);
  return found.filter((payment) => payment !== null).filter((payment) => payment.merchantAccount === merchantAccount);
}
