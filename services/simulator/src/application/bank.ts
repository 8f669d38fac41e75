import type { PayoutOrder, PayoutReturn, Settlement } from '../domain/bank';
import { decidePayout, returnOf, sameOrder } from '../domain/bank';
import type { Reaction } from '../domain/keyed';
import type { KeyedPorts } from './keyed';
import { perform } from './keyed';

/** Shared by all replicas. Writes are durable when they return. */
export interface PayoutReturns {
  /** Does nothing if the payout came back before. */
  insert(payoutReturn: PayoutReturn): Promise<void>;
  /** Oldest first. */
  unacknowledged(limit: number): Promise<PayoutReturn[]>;
  /** False if nothing came back under this key. */
  acknowledge(key: string): Promise<boolean>;
}

export interface BankPorts extends KeyedPorts<PayoutOrder, Settlement> {
  returns: PayoutReturns;
}

/** Pays out once per idempotency key. */
export function payOut(ports: BankPorts, order: PayoutOrder): Promise<Reaction<PayoutOrder, Settlement>> {
  return perform(ports, order, () => decidePayout(order, ports.now()), sameOrder);
}

/**
 * Returns a settled payout, once: a second reason changes nothing. False unless it is settled. A settlement is final,
 * so nothing can change between reading it and storing the return.
 */
export async function returnPayout(ports: BankPorts, key: string, reasonCode: string): Promise<boolean> {
  const settled = await ports.records.find(key);
  const payoutReturn = returnOf(settled?.record, reasonCode, ports.now());
  if (payoutReturn === undefined) return false;
  await ports.returns.insert(payoutReturn);
  return true;
}
