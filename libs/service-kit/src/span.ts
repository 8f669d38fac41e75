/**
 * Everything that a span may say. A closed list, because spans leave the gateway: no card data, names, account numbers of
 * people, addresses, e-mails or free text, and no text of an error (ADR 0055). Names are those of OpenTelemetry's semantic
 * conventions where they have one.
 */
export interface SpanAttributes {
  'http.request.method'?: string;
  /** The declared route, never the path. */
  'http.route'?: string;
  'http.response.status_code'?: number;
  /** The host of a counterpart. */
  'server.address'?: string;
  'messaging.system'?: 'kafka';
  'messaging.operation.type'?: 'send' | 'process' | 'receive';
  /** The topic without prefix. */
  'messaging.destination.name'?: string;
  'messaging.destination.partition.id'?: string;
  'messaging.kafka.offset'?: number;
  'messaging.message.id'?: string;
  'messaging.consumer.group.name'?: string;
  'db.system.name'?: 'mongodb';
  'db.operation.name'?: string;
  'db.collection.name'?: string;
  /** The merchant's account, once its password or token was right. */
  'gateway.account'?: string;
  /** The type of an operation: SALE, PAYOUT. */
  'gateway.operation'?: string;
  /** Allotted by the gateway, like the id of its payment or payout. */
  'gateway.reference'?: string;
  'gateway.payment'?: string;
  'gateway.code'?: number;
  'gateway.code_class'?: string;
  'gateway.message_type'?: string;
  /** From the publication of a message to the beginning of its handling. */
  'gateway.waited_ms'?: number;
  'gateway.attempt'?: number;
  'gateway.counterpart'?: string;
  'gateway.lane'?: string;
  /** The kind of a counterpart's answer. */
  'gateway.answer'?: string;
}

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface NewSpan {
  /** From a small fixed set. */
  name: string;
  /** Default: internal. */
  kind?: SpanKind;
  attributes?: SpanAttributes;
  /** W3C `traceparent` of the span that this one follows from. Without it, or with a malformed one, a trace begins. */
  parent?: string | undefined;
  /** `traceparent` of spans in other traces that this one has to do with. */
  links?: readonly (string | undefined)[];
}

/** One piece of work in a trace, from its start to its end. */
export interface Span {
  /** W3C: for what this span causes. It says "sampled" as soon as the trace is sure to be exported. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  link(traceparent: string): void;
  /**
   * The work failed: what this process still knows of the trace is exported, whether it is sampled or not.
   *
   * @param reason from a small fixed set, such as {@link errorType} returns
   */
  fail(reason: string): void;
  end(): void;
}

/** Starts spans. Never throws, and never waits: what cannot be exported is dropped and counted. */
export interface Tracer {
  start(span: NewSpan): Span;
}

/** A name or code, but not a sentence, which may contain anything. */
const ERROR_TYPE = /^[\w.-]{1,64}$/;

/** Class or code of an error, for {@link Span.fail}. */
export function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' || typeof code === 'number' ? String(code) : name;
  return typeof type === 'string' && ERROR_TYPE.test(type) ? type : 'Error';
}
