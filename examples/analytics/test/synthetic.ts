import type { Event } from '../src/messages';
import type { Store } from '../src/store';

/** An event as it comes from a topic; its place there is given by the order in which events are written. */
export type Written = Omit<Event, 'offset' | 'version'> & { readonly topic: string; readonly version: number };

const NEXT = { ids: 0 };

interface Given {
  topic: string;
  type: string;
  subject: string;
  version: number;
  timeMs: number;
  data: Record<string, unknown>;
}

export function eventOf({ data, ...given }: Given): Written {
  NEXT.ids += 1;
  return {
    ...given,
    id: `event-${NEXT.ids}`,
    source: 'test',
    correlationId: undefined,
    causationId: undefined,
    headers: '{}',
    data: JSON.stringify({ occurredAt: given.timeMs, ...data }),
  };
}

/** A card event of the operation `PAYMENT` + `operation`. */
export function cardEvent(
  type: string,
  payment: string,
  version: number,
  timeMs: number,
  data: Record<string, unknown> = {},
): Written {
  const reference = `${payment.padEnd(16, '0')}0001`;
  return eventOf({
    topic: 'card.events.v1',
    type,
    subject: payment,
    version,
    timeMs,
    data: {
      paymentId: payment,
      reference,
      transactionType: 'SALE',
      amountE4: 100_000,
      currency: 'XTS',
      cardBrand: 'visa',
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
      acceptedAt: timeMs,
      ...data,
    },
  });
}

/** Writes the events behind those that partition 0 of each topic has. */
export async function write(store: Store, events: readonly Written[]): Promise<void> {
  for (const topic of new Set(events.map((event) => event.topic))) {
    const start = store.nextOffset(topic, 0) ?? 0n;
    const messages = events
      .filter((event) => event.topic === topic)
      .map(({ topic: _topic, version, ...event }, index) => ({
        ...event,
        version: BigInt(version),
        offset: start + BigInt(index),
      }));
    await store.append({ topic, partition: 0, messages, lastOffset: start + BigInt(messages.length) - 1n });
  }
}
