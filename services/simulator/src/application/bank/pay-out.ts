import { decidePayout } from '../../domain/bank/decide';
import type { PayoutOrder } from '../../domain/bank/payout';
import { sameOrder } from '../../domain/bank/payout';
import type { Settlement } from '../../domain/bank/record';
import type { Reaction } from '../../domain/keyed/behave';
import { perform } from '../keyed/perform';
import type { BankPorts } from './ports';

/** Pays out once per idempotency key. */
export function payOut(ports: BankPorts, order: PayoutOrder): Promise<Reaction<PayoutOrder, Settlement>> {
  return perform(ports, order, () => decidePayout(order, ports.now()), sameOrder);
}
