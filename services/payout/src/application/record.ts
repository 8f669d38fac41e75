import { causeOf } from '@gateway/service-kit';
import type { NewMessage } from '@gateway/mongo';
import { bodyOf } from '@gateway/mongo';
import type { Payout, PayoutEvent } from '../domain/payout';
import { endedWithoutSuccess, evolve, isOpen } from '../domain/payout';
import { announcement } from './announcements';
import type { PayoutBody, Ports, StoredPayout } from './ports';

const SECOND_MS = 1_000;
/** What is to be released is in nobody's hands but ours: it comes before all that waits for a bank. */
const FIRST_OF_ALL = 0;

/** When an open payout is looked after next; an ended one has its own rule. */
export type Attention = Pick<PayoutBody, 'resolveAt' | 'inquiries'>;

/**
 * Writes what was decided: the first time as a new document, later as a conditional update on the version that was
 * decided upon. Undefined when someone else wrote first: load, decide again.
 */
export async function record(
  ports: Ports,
  stored: StoredPayout | undefined,
  events: readonly PayoutEvent[],
  attention: Attention,
  causationId?: string,
): Promise<StoredPayout | undefined> {
  const now = ports.now();
  let payout: Payout | undefined = stored && withoutAttention(stored);
  const announcements: NewMessage[] = [];
  for (const event of events) {
    payout = evolve(payout, event);
    const cause = causeOf(payout.payoutId, causationId);
    const announced = announcement(payout, event, { now, newId: ports.newId, cause });
    if (announced !== undefined) announcements.push(announced);
  }
  if (payout === undefined) throw new Error('broken invariant: nothing to record');
  const body: PayoutBody = {
    ...payout,
    time: Math.floor(payout.acceptedAt / SECOND_MS),
    ...attentionFor(payout, events, attention),
  };
  return stored === undefined
    ? ports.payouts.insert(payout.reference, body, announcements)
    : ports.payouts.update(stored, body, announcements);
}

function withoutAttention(stored: StoredPayout): Payout {
  const { resolveAt: _resolveAt, inquiries: _inquiries, time: _time, ...payout } = bodyOf(stored);
  return payout;
}

/** The write that ends a payout without success leaves the mark that has its reservations released. */
function attentionFor({ state }: Payout, events: readonly PayoutEvent[], attention: Attention): Attention {
  if (isOpen(state)) return attention;
  return endedWithoutSuccess(state) && events.length > 0 ? { resolveAt: FIRST_OF_ALL } : {};
}
