import type { Evidence, StoredDocument } from '../model/evidence';
import { documentsOf } from '../model/evidence';

/** The reason why a document still needs work; undefined if it does not. */
const OPEN: Record<string, (document: StoredDocument, now: number) => string | undefined> = {
  'edge.journal': ({ state }) => (state === 'closed' ? undefined : `entry ${String(state)}`),
  'cards.payments': (payment, now) =>
    outboxOf(payment) ?? fieldOf(payment, 'pending', 'awaiting', 'resolveAt') ?? overdueHold(payment, now),
  'payouts.payouts': (payout) => outboxOf(payout) ?? fieldOf(payout, 'resolveAt'),
  'threeds.authentications': outboxOf,
  'callbacks.deliveries': (delivery) => outboxOf(delivery) ?? progressOf(delivery),
  'callbacks.incomplete': () => 'without its custom values',
  'expiry.deadlines': ({ dueAt }, now) => (Number(dueAt ?? Infinity) < now ? 'due' : undefined),
};

/** No outbox entry, journal entry, call, lease, retry or message is pending, and no message was dead-lettered. */
export function nothingIsLeftBehind(evidence: Evidence): string[] {
  const open = Object.entries(OPEN).flatMap(([name, why]) =>
    documentsOf(evidence, name).flatMap((document) => {
      const reason = why(document, evidence.collectedAt);
      return reason === undefined ? [] : [`${name} ${document._id}: ${reason}`];
    }),
  );
  const unread = evidence.lags
    .filter(({ lag }) => lag > 0)
    .map(({ group, topic, partition, lag }) => `${group} is ${lag} behind in ${topic}/${partition}`);
  const dead = evidence.messages
    .filter(({ topic }) => topic.includes('.dlq.'))
    .map(({ topic, key, headers }) => `${topic} ${key}: ${headers['dlq_reason']}`);
  return [...open, ...unread, ...dead];
}

function outboxOf({ outbox, outboxSince }: StoredDocument): string | undefined {
  if (Array.isArray(outbox) && outbox.length > 0) return `${outbox.length} in the outbox`;
  return outboxSince === undefined ? undefined : 'marked as having an outbox';
}

function fieldOf(document: StoredDocument, ...names: string[]): string | undefined {
  const found = names.find((name) => document[name] !== undefined);
  return found === undefined ? undefined : `${found} is set`;
}

/** auth-expiry repeats its command until the hold is voided. */
function overdueHold({ state }: StoredDocument, now: number): string | undefined {
  const { kind, hold } = (state ?? {}) as { kind?: string; hold?: { expiresAt: number } };
  return kind === 'authorized' && hold !== undefined && hold.expiresAt < now ? 'still held after its end' : undefined;
}

function progressOf({ progress }: StoredDocument): string | undefined {
  const { state } = progress as { state?: string };
  return state === 'pending' ? 'not delivered yet' : undefined;
}
