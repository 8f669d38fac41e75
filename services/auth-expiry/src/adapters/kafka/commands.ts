import { ExpireAuthorization, paymentIdOf } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { newTraceparent } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

/** Commands to card-processing, in order with all others of their payment. They have no deadline: the payment's state decides. */
export function askToExpire(publisher: Publisher): Ports['askToExpire'] {
  return ({ reference, merchantAccount, expiresAt }) => {
    const paymentId = paymentIdOf(reference);
    return publisher.publish({
      declaration: ExpireAuthorization,
      data: { paymentId, merchantAccount, reference, expiresAt },
      key: paymentId,
      correlationId: paymentId,
      traceparent: newTraceparent(),
    });
  };
}
