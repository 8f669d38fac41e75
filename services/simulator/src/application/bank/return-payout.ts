import { returnOf } from '../../domain/bank/payout-return';
import type { BankPorts } from './ports';

/**
 * Makes a settled payout come back, once: another reason later changes nothing. False when it is not settled. A
 * settlement is final, so that nothing can come between its reading and the return.
 */
export async function returnPayout(ports: BankPorts, key: string, reasonCode: string): Promise<boolean> {
  const settled = await ports.records.find(key);
  const payoutReturn = returnOf(settled?.record, reasonCode, ports.now());
  if (payoutReturn === undefined) return false;
  await ports.returns.insert(payoutReturn);
  return true;
}
