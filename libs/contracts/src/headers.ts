import type { TObject, TProperties } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { TopicName } from './topics';

const text = (description: string) => Type.String({ minLength: 1, description });
const count = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description });

const time = (description: string) => Type.String({ format: 'date-time', description });

/** CloudEvents 1.0 in Kafka's binary mode: attributes in headers that begin with `ce_`. All values are text. */
const attributes = {
  ce_specversion: Type.Literal('1.0', { description: '`1.0`, the version of CloudEvents' }),
  ce_id: text('message id. An event keeps it in every publication; a command that is published again gets a new one'),
  ce_type: text('message type'),
  ce_source: text('service that published it'),
  ce_time: time('when it happened, RFC 3339'),
  ce_subject: text('events: the record that the event belongs to, see below; other messages: the key'),
  ce_correlationid: text("the merchant's request (its `sessionid`), on everything that follows from it"),
  ce_causationid: Type.Optional(text('id of the message that caused this one, if any')),
  'content-type': Type.Literal('application/json', { description: '`application/json`, the form of the value' }),
  traceparent: Type.Optional(
    Type.String({ pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$', description: 'W3C trace context' }),
  ),
  replayed_from: Type.Optional(text('replayed messages: dead-letter topic, partition and offset')),
};
const inRecord = Type.String({
  pattern: '^[1-9][0-9]*$',
  description: 'events: number of the event in its record, from 1, without gaps',
});
const replyPartition = count('commands: partition on which a replica of api-edge waits for the reply');
const origin = {
  dlq_reason: text('dead letters: why the message cannot be processed'),
  dlq_topic: text('dead letters: the topic that it was in'),
  dlq_partition: count('dead letters: its partition there'),
  dlq_offset: count('dead letters: its offset there'),
  dlq_time: time('dead letters: when it was given up'),
};

/** The headers of each kind of message. */
export const messageHeaders = {
  event: Type.Object({ ...attributes, ce_aggregateversion: inRecord }),
  command: Type.Object({
    ...attributes,
    ce_aggregateversion: Type.Optional(inRecord),
    reply_partition: Type.Optional(replyPartition),
  }),
  notice: Type.Object(attributes),
  /** Beside the headers of the message, which may be anything. */
  deadLetter: Type.Object(origin),
} as const satisfies Record<string, TObject<TProperties>>;

export type HeaderKind = keyof typeof messageHeaders;

/** The kind of the headers of all messages in a topic. */
export function headerKindOf(topic: TopicName): Exclude<HeaderKind, 'deadLetter'> {
  if (topic.endsWith('Events')) return 'event';
  return topic.endsWith('Commands') ? 'command' : 'notice';
}

/** Every header once, with its meaning, for documents. */
export const headerMeanings: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...attributes, ce_aggregateversion: inRecord, reply_partition: replyPartition, ...origin }).map(
    ([name, { description }]) => [name, description ?? ''],
  ),
);
