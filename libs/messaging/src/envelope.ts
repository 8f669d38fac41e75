import { randomUUID } from 'node:crypto';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { MessageDeclaration } from '@gateway/contracts';
import { currentTrace } from '@gateway/service-kit';

/** A message to publish. Absent ids, times and traces are generated. */
export interface OutgoingMessage<T = unknown> {
  readonly declaration: MessageDeclaration<T>;
  readonly data: T;
  /** Kafka key: the payment or payout id. Messages with the same key stay in order. */
  readonly key: string;
  /** The same in every publication of the message. Default: a random UUID. */
  readonly id?: string;
  /** Epoch ms. Default: now. */
  readonly timeMs?: number;
  /** What the message is about. Default: the key. */
  readonly subject?: string;
  /** Default: that of the current trace. */
  readonly correlationId?: string;
  /** Id of the message that caused this one. */
  readonly causationId?: string;
  /** Gapless number of the event in its aggregate. */
  readonly aggregateVersion?: number;
  /** W3C. Default: that of the current trace. */
  readonly traceparent?: string;
  /** For commands: the partition of the replies' topic to which the sender listens. */
  readonly replyPartition?: number;
  /** Overrides the partition of the key. Only replies do that. */
  readonly partition?: number;
}

/** A message from Kafka that matches its declaration. */
export interface Envelope<T = unknown> {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  /** RFC 3339. */
  readonly time: string;
  readonly subject: string;
  /** Default: the id of the message. */
  readonly correlationId: string;
  readonly causationId?: string;
  readonly aggregateVersion?: number;
  readonly traceparent?: string;
  readonly replyPartition?: number;
  readonly data: T;
  readonly key: string;
  /** Full name, with prefix. */
  readonly topic: string;
  readonly partition: number;
  /** Decimal. */
  readonly offset: string;
  /** As received, not converted: use {@link headerOf}. */
  readonly headers: IHeaders;
}

/** The message breaks its contract. Do not retry. The text names fields, never their values. */
export class InvalidMessageError extends Error {
  override readonly name = 'InvalidMessageError';
}

const SPEC_VERSION = '1.0';
const CONTENT_TYPE = 'application/json';

export interface EncodedMessage {
  key: string;
  value: Buffer;
  headers: Record<string, string>;
  partition?: number;
}

/**
 * CloudEvents 1.0, Kafka protocol binding 1.0.2, binary mode: attributes as `ce_` headers, data as JSON value.
 *
 * @throws InvalidMessageError if the data does not match the declaration.
 */
export function encode(message: OutgoingMessage, source: string): EncodedMessage {
  const { declaration, key } = message;
  const problem = declaration.problem(message.data);
  if (problem !== undefined) throw new InvalidMessageError(`${declaration.type} is not valid: ${problem}`);
  const trace = currentTrace();
  const id = message.id ?? randomUUID();
  const headers: Record<string, string> = {
    ce_specversion: SPEC_VERSION,
    ce_id: id,
    ce_type: declaration.type,
    ce_source: source,
    ce_time: new Date(message.timeMs ?? Date.now()).toISOString(),
    ce_subject: message.subject ?? key,
    ce_correlationid: message.correlationId ?? trace?.correlationId ?? id,
    'content-type': CONTENT_TYPE,
  };
  const traceparent = message.traceparent ?? trace?.traceparent;
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  if (message.causationId !== undefined) headers['ce_causationid'] = message.causationId;
  if (message.aggregateVersion !== undefined) headers['ce_aggregateversion'] = String(message.aggregateVersion);
  if (message.replyPartition !== undefined) headers['reply_partition'] = String(message.replyPartition);
  const encoded: EncodedMessage = { key, value: Buffer.from(JSON.stringify(message.data)), headers };
  if (message.partition !== undefined) encoded.partition = message.partition;
  return encoded;
}

/** What Kafka allows and other producers send. kafkajs' type lacks null. */
type HeaderValue = Buffer | string | null | undefined;

/** The text of a header, the first one if it is repeated. Undefined if it is absent or null. */
export function headerOf(headers: IHeaders | undefined, name: string): string | undefined {
  const value: HeaderValue | HeaderValue[] = headers?.[name];
  return (Array.isArray(value) ? value.find(isPresent) : value)?.toString();
}

export function isPresent<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

/** The value of a message if it is a JSON object, valid or not. */
export function fieldsOf({ value }: Pick<KafkaMessage, 'value'>): Record<string, unknown> | undefined {
  try {
    const data: unknown = JSON.parse(value?.toString() ?? '');
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The type of a message, from its header alone. */
export function typeOf(message: Pick<KafkaMessage, 'headers'>): string | undefined {
  return headerOf(message.headers, 'ce_type');
}

/**
 * Decodes and checks one message of a declared type. Unknown fields are allowed.
 *
 * @throws InvalidMessageError if an attribute is missing, the value is not JSON, or the data does not match.
 */
export function decode<T>(
  declaration: MessageDeclaration<T>,
  origin: { topic: string; partition: number },
  message: KafkaMessage,
): Envelope<T> {
  const { headers = {} } = message;
  const id = required(headers, 'ce_id');
  if (required(headers, 'ce_specversion') !== SPEC_VERSION) {
    throw new InvalidMessageError('ce_specversion is not 1.0');
  }
  const key = message.key?.toString() ?? '';
  const causationId = headerOf(headers, 'ce_causationid');
  const aggregateVersion = numberFrom(headers, 'ce_aggregateversion');
  const traceparent = headerOf(headers, 'traceparent');
  const replyPartition = numberFrom(headers, 'reply_partition');
  return {
    id,
    type: declaration.type,
    source: required(headers, 'ce_source'),
    time: headerOf(headers, 'ce_time') ?? new Date(Number(message.timestamp)).toISOString(),
    subject: headerOf(headers, 'ce_subject') ?? key,
    correlationId: headerOf(headers, 'ce_correlationid') ?? id,
    ...(causationId !== undefined && { causationId }),
    ...(aggregateVersion !== undefined && { aggregateVersion }),
    ...(traceparent !== undefined && { traceparent }),
    ...(replyPartition !== undefined && { replyPartition }),
    data: dataFrom(declaration, message.value),
    key,
    topic: origin.topic,
    partition: origin.partition,
    offset: message.offset,
    headers,
  };
}

function required(headers: IHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (value === undefined || value === '') throw new InvalidMessageError(`header ${name} is missing`);
  return value;
}

function numberFrom(headers: IHeaders, name: string): number | undefined {
  const text = headerOf(headers, name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text === '' || !Number.isSafeInteger(number) || number < 0) {
    throw new InvalidMessageError(`header ${name} is not a non-negative integer`);
  }
  return number;
}

function dataFrom<T>(declaration: MessageDeclaration<T>, value: Buffer | null): T {
  let data: unknown;
  try {
    data = JSON.parse(value?.toString() ?? '');
  } catch {
    // The parser's message quotes the text, which must not be logged.
    throw new InvalidMessageError(`${declaration.type} is not valid: its value is not JSON`);
  }
  const problem = declaration.problem(data);
  if (problem !== undefined) throw new InvalidMessageError(`${declaration.type} is not valid: ${problem}`);
  return data as T;
}

/** Like {@link decode}, with the declaration of the message's type; undefined if none of these is of its type. */
export function decodeMessage(
  declarations: readonly MessageDeclaration[],
  origin: { topic: string; partition: number },
  message: KafkaMessage,
): Envelope | undefined {
  const type = typeOf(message);
  const declaration = declarations.find((one) => one.type === type);
  return declaration && decode(declaration, origin, message);
}
