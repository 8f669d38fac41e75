import { ExpireAuthorization, paymentIdOf } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import type { Tracer } from '@gateway/service-kit';
import { inTrace } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

/** Commands to card-processing, in no order with those of merchants and with no deadline: the payment's state decides. */
export function askToExpire(publisher: Publisher, tracer: Tracer): Ports['askToExpire'] {
  return ({ reference, merchantAccount, expiresAt, traceparent }) => {
    const paymentId = paymentIdOf(reference);
    const data = { paymentId, merchantAccount, reference, expiresAt };
    // Days after the authorization, so this is a trace of its own.
    return inTrace(tracer, { name: 'ask for an expiry', correlationId: paymentId, links: [traceparent] }, () =>
      publisher.publish({ declaration: ExpireAuthorization, data, key: paymentId }),
    );
  };
}
