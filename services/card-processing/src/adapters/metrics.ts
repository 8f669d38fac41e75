import type { Registry } from '@gateway/service-kit';
import { Counter } from '@gateway/service-kit';
import { NUMBER_RULES } from '../domain/decide';
import type { PaymentEvent } from '../domain/payment';

/** Counts attempts that a velocity rule declined. */
export function countRefusals(metrics: Registry): (event: PaymentEvent) => void {
  const refusals = new Counter({
    name: 'gateway_velocity_declines_total',
    help: 'Attempts that a velocity rule declined, by rule (`declines by ip`, …)',
    labelNames: ['rule'],
    registers: [metrics],
  });
  // One refusal is an alarm, which sees a counter only from its second value on.
  for (const rule of Object.values(NUMBER_RULES)) refusals.inc({ rule }, 0);
  return (event) => {
    const rule = event.type === 'OperationRecorded' ? event.operation.refusedBy?.rule : undefined;
    if (rule !== undefined) refusals.inc({ rule });
  };
}
