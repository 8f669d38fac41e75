import { topics } from '@gateway/contracts';
import type { TopicRecord } from '../../support/topics';
import type { Evidence } from '../model/evidence';
import { documentsOf, PENDING } from '../model/evidence';

/** Event topics, each with the collection that stores the last event number of each record. */
const RECORDS: Record<string, string> = {
  [topics.cardEvents.name]: 'cards.payments',
  [topics.payoutEvents.name]: 'payouts.payouts',
  [topics.threedsEvents.name]: 'threeds.authentications',
  [topics.callbackEvents.name]: 'callbacks.deliveries',
};

/**
 * The events of a record are in order of `ce_aggregateversion`, from 1 without gaps up to the last one in its store. An
 * event may repeat, even later, but two events never have the same version.
 */
export function eventsAreInSequence(evidence: Evidence): string[] {
  const problems: string[] = [];
  for (const [topic, collection] of Object.entries(RECORDS)) {
    const own = evidence.messages.filter((message) => message.topic === topic);
    const bySubject = Map.groupBy(own, ({ headers }) => headers['ce_subject'] ?? '');
    for (const [subject, events] of bySubject) {
      const problem = sequenceProblem(events);
      if (problem !== undefined) problems.push(`${topic} ${subject}: ${problem}`);
    }
    for (const { _id, eventSeq } of documentsOf(evidence, collection)) {
      const published = Math.max(0, ...(bySubject.get(_id) ?? []).map(versionOf));
      if (published !== Number(eventSeq ?? 0)) {
        problems.push(`${topic} ${_id}: published up to ${published} of ${String(eventSeq)}`);
      }
    }
  }
  return problems;
}

const versionOf = ({ headers }: TopicRecord): number => Number(headers['ce_aggregateversion']);

function sequenceProblem(events: readonly TopicRecord[]): string | undefined {
  if (new Set(events.map(({ partition }) => partition)).size > 1) return 'on more than one partition';
  const ids = new Map<number, string | undefined>();
  let last = 0;
  for (const event of events) {
    const version = versionOf(event);
    const id = event.headers['ce_id'];
    if (version <= last) {
      if (ids.get(version) !== id) return `${version} is ${ids.get(version)} and ${id}`;
      continue;
    }
    if (version !== last + 1) return `${version} comes after ${last}`;
    last = version;
    ids.set(version, id);
  }
  return undefined;
}

/**
 * Every promised callback reached its receiver, signed and with the final outcome. It also counts if the receiver failed
 * it. Only what receivers saw counts, not what the dispatcher recorded.
 */
export function callbacksAreAttempted(evidence: Evidence): string[] {
  const arrived = Map.groupBy(evidence.callbacks, ({ reference }) => reference);
  const promised = new Set([
    ...evidence.operations.filter(({ awaitsCallback }) => awaitsCallback).map(({ reference }) => reference),
    ...finalEventsWithAddress(evidence.messages),
  ]);
  const unsigned = evidence.callbacks
    .filter(({ signed }) => !signed)
    .map(({ reference }) => `${reference}: a callback with a wrong checkSum`);
  const early = evidence.callbacks
    .filter(({ status }) => status === PENDING)
    .map(({ reference }) => `${reference}: a callback that is not final`);
  const missing = [...promised]
    .filter((reference) => reference !== undefined && !arrived.has(reference))
    .map((reference) => `${reference}: its callback was never attempted`);
  return [...missing, ...unsigned, ...early];
}

function finalEventsWithAddress(messages: readonly TopicRecord[]): string[] {
  const outcomes: string[] = [topics.cardEvents.name, topics.payoutEvents.name];
  return messages
    .filter(({ topic, value }) => outcomes.includes(topic) && value.includes('"callbackUrl"'))
    .map(({ value }) => (JSON.parse(value) as { reference: string }).reference);
}
