import type { PayoutOrder } from '../../domain/bank/payout';
import type { PayoutReturn } from '../../domain/bank/payout-return';
import type { Settlement } from '../../domain/bank/record';
import type { KeyedPorts } from '../keyed/ports';

/** Durable when written, and shared by all replicas. */
export interface PayoutReturns {
  /** Changes nothing when the payout came back before. */
  insert(payoutReturn: PayoutReturn): Promise<void>;
  /** What nobody has acknowledged yet, oldest first. */
  unacknowledged(limit: number): Promise<PayoutReturn[]>;
  /** False when nothing came back under this key. */
  acknowledge(key: string): Promise<boolean>;
}

export interface BankPorts extends KeyedPorts<PayoutOrder, Settlement> {
  returns: PayoutReturns;
}
