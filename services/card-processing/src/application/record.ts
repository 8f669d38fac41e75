import { causeOf } from '@gateway/service-kit';
import type { NewMessage } from '@gateway/mongo';
import { bodyOf } from '@gateway/mongo';
import type { PaymentEvent } from '../domain/payment';
import { evolve, newPayment, pendingReference } from '../domain/payment';
import { announcement } from './announcements';
import type { PaymentBody, Ports, StoredPayment } from './ports';

/** Fields of the document that an event alone does not determine. */
export type Extras = Pick<PaymentBody, 'resolveAt' | 'inquiries' | 'presentation' | 'awaiting'>;

/**
 * Writes what was decided: the first time as a new document, later as a conditional update on the version that was
 * decided upon. Undefined when someone else wrote first: load, decide again.
 */
export async function record(
  ports: Ports,
  target: { id: string; merchantAccount: string; stored: StoredPayment | null },
  events: readonly PaymentEvent[],
  extras: Extras,
  causationId?: string,
): Promise<StoredPayment | undefined> {
  const { body, announcements } = apply(ports, target, events, extras, causationId);
  const stored =
    target.stored === null
      ? await ports.payments.insert(target.id, body, announcements)
      : await ports.payments.update(target.stored, body, announcements);
  return stored;
}

function apply(
  ports: Ports,
  target: { id: string; merchantAccount: string; stored: StoredPayment | null },
  events: readonly PaymentEvent[],
  extras: Extras,
  causationId: string | undefined,
): { body: PaymentBody; announcements: NewMessage[] } {
  const cause = causeOf(target.id, causationId);
  const announcements: NewMessage[] = [];
  let body: PaymentBody = target.stored === null ? newPayment(target.merchantAccount) : bodyOf(target.stored);
  for (const event of events) {
    body = evolve(body, event);
    const announced = announcement(body, event, { now: ports.now(), newId: ports.newId, cause });
    if (announced !== undefined) announcements.push(announced);
  }
  return { body: withoutLeftovers({ ...body, ...extras }), announcements };
}

/**
 * What is refused while a call is pending changes nothing about when its outcome is looked for: only its end does. The
 * customer is forgotten as soon as no authentication waits for one.
 */
function withoutLeftovers({ resolveAt, inquiries, awaiting, ...rest }: PaymentBody): PaymentBody {
  return {
    ...rest,
    ...(pendingReference(rest) === undefined || resolveAt === undefined ? {} : { resolveAt }),
    ...(rest.pending === undefined || inquiries === undefined ? {} : { inquiries }),
    ...(rest.state.kind !== 'authenticating' || awaiting === undefined ? {} : { awaiting }),
  };
}
