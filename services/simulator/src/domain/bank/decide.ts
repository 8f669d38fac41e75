import type { Decision } from '../keyed/behave';
import { behave } from '../keyed/behave';
import { transactionIdOf } from '../keyed/record';
import { behaviourOfPayout } from '../keyed/triggers';
import type { PayoutOrder } from './payout';
import type { Settlement } from './record';

/** Decides on a key that nobody used before: the bank has money for everybody, so that only the amount counts. */
export function decidePayout(order: PayoutOrder, now: number): Decision<PayoutOrder, Settlement> {
  const settlement = { transactionId: transactionIdOf(order.idempotencyKey) };
  return behave(order, settlement, behaviourOfPayout(order.amountE4, order.currency), now);
}
