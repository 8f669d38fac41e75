import type { Registry } from '@gateway/service-kit';
import { Counter } from '@gateway/service-kit';
import type { PaymentEvent } from '../domain/payment';

/** Counts attempts that a velocity rule declined. */
export function countRefusals(metrics: Registry): (event: PaymentEvent) => void {
  const refusals = new Counter({
    name: 'gateway_velocity_declines_total',
    help: 'Attempts that a velocity rule declined, by rule (`declines by ip`, …)',
    labelNames: ['rule'],
    registers: [metrics],
  });
  return (event) => {
    const rule = event.type === 'OperationRecorded' ? event.operation.refusedBy?.rule : undefined;
    if (rule !== undefined) refusals.inc({ rule });
  };
}
