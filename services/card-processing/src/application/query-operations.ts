import type { OperationOutcome } from '@gateway/contracts';
import { paymentIdOf } from '@gateway/contracts';
import { outcomeOf, outcomesOf } from './outcome';
import type { Ports, StoredPayment } from './ports';

type Reading = Pick<Ports, 'payments' | 'accounts'>;

/** One of the account's operations; undefined if there is none. */
export async function findOutcome(
  ports: Reading,
  merchantAccount: string,
  reference: string,
): Promise<OperationOutcome | undefined> {
  const { payments } = ports;
  // The payment's document, and a refusal's own document.
  const found = await Promise.all([payments.load(paymentIdOf(reference)), payments.load(reference)]);
  for (const payment of ownedBy(merchantAccount, found)) {
    const outcome = await outcomeOf(ports, payment, reference);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** All operations of the payment that `reference` belongs to, oldest first, if the account owns it. */
export async function listOutcomes(
  { payments, accounts }: Reading,
  merchantAccount: string,
  reference: string,
): Promise<OperationOutcome[]> {
  const [whole, alone, account] = await Promise.all([
    payments.loadWhole(paymentIdOf(reference)),
    payments.load(reference),
    accounts.find(merchantAccount),
  ]);
  const documents = new Map(ownedBy(merchantAccount, [...whole, alone]).map((payment) => [payment._id, payment]));
  const options = { withHoldEnd: account?.holdCallbackHours !== undefined };
  return [...documents.values()]
    .flatMap((payment) => outcomesOf(payment, options))
    .sort((a, b) => a.timestamp - b.timestamp);
}

function ownedBy(merchantAccount: string, found: readonly (StoredPayment | null)[]): StoredPayment[] {
  return found.filter((payment) => payment !== null).filter((payment) => payment.merchantAccount === merchantAccount);
}
