import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { CloudEvent, Kafka } from 'cloudevents';
import { parse } from 'yaml';
import { DEAD_LETTER } from '@gateway/contracts';

type Json = Record<string, unknown>;

/** docs/asyncapi.yaml, as far as checks need it. */
export interface AsyncApi extends Json {
  channels: Record<string, { address: string; messages: Record<string, { $ref: string }> }>;
  components: {
    schemas: Record<string, Json>;
    messages: Record<string, DocumentedMessage>;
  };
}

interface DocumentedMessage {
  name: string;
  headers: { $ref: string };
  payload: { $ref: string } | Json;
  bindings?: { kafka: { key: Json } };
  examples?: { headers: Record<string, string>; payload: unknown }[];
}

/** A message as Kafka stores it, in a topic without prefix. */
export interface StoredMessage {
  topic: string;
  key: string;
  value: string;
  headers: Record<string, string>;
}

export function readAsyncApi(): AsyncApi {
  return parse(readFileSync(join(__dirname, '..', '..', 'docs', 'asyncapi.yaml'), 'utf8')) as AsyncApi;
}

/** The last part of `#/components/messages/NAME`. */
const nameOf = ({ $ref }: { $ref: string }): string => $ref.slice($ref.lastIndexOf('/') + 1);

const isReference = (part: object): part is { $ref: string } => '$ref' in part;

/** Readers accept unknown fields; what the gateway writes has to be in the document. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)]);
  const isOpen = 'properties' in schema && !('patternProperties' in schema) && !('additionalProperties' in schema);
  return { ...(Object.fromEntries(parts) as Json), ...(isOpen && { additionalProperties: false }) };
}

interface MessageCheck {
  headers: ValidateFunction;
  payload?: ValidateFunction;
  key?: ValidateFunction;
}

/**
 * Checks messages by the document: topic, type, headers, key and value. A field or header that the document does not name
 * is a problem, and so is what the `cloudevents` package does not read as the same event.
 */
export function createMessageCheck(document: AsyncApi): (message: StoredMessage) => string | undefined {
  const ajv = addFormats(new Ajv({ allErrors: true, strict: false }));
  const { schemas, messages } = document.components;
  const deadLetters = nameOf(messages[DEAD_LETTER]?.headers ?? { $ref: '' });
  for (const [name, schema] of Object.entries(schemas))
    ajv.addSchema((name === deadLetters ? schema : closed(schema)) as Json, name);
  const validatorOf = (reference: { $ref: string }) => ajv.getSchema(nameOf(reference)) as ValidateFunction;
  const checks = new Map<string, MessageCheck>();
  for (const [type, { headers, payload, bindings }] of Object.entries(messages)) {
    checks.set(type, {
      headers: validatorOf(headers),
      ...(isReference(payload) && { payload: validatorOf(payload) }),
      ...(bindings !== undefined && { key: ajv.compile(bindings.kafka.key) }),
    });
  }
  const typesOf = new Map(
    Object.values(document.channels).map((channel) => [channel.address, Object.keys(channel.messages)]),
  );

  function problem(message: StoredMessage): string | undefined {
    const { topic, key, value, headers } = message;
    const types = typesOf.get(topic);
    if (types === undefined) return 'the topic is not documented';
    const type = types.includes(DEAD_LETTER) ? DEAD_LETTER : (headers['ce_type'] ?? '');
    const check = checks.get(type);
    if (check === undefined || !types.includes(type)) return 'the type is not documented for this topic';
    if (!check.headers(headers)) return `headers: ${ajv.errorsText(check.headers.errors, { dataVar: '' })}`;
    if (check.payload === undefined) return undefined;
    if (check.key?.(key) === false) return `key: ${ajv.errorsText(check.key.errors, { dataVar: '' })}`;
    const payload = parsed(value);
    if (payload === undefined) return 'value: not JSON';
    if (!check.payload(payload)) return `value: ${describe(check.payload)}`;
    return cloudEventProblem(message);
  }

  /** With the name of the field that is too much. */
  const describe = ({ errors }: ValidateFunction): string =>
    (errors ?? [])
      .map(({ instancePath, message, params }) => {
        const { additionalProperty } = params as { additionalProperty?: string };
        return `${instancePath} ${message ?? ''} ${additionalProperty ?? ''}`.trim();
      })
      .join(', ');

  return (message) => {
    const found = problem(message);
    return found && `${message.topic}, ${message.headers['ce_type'] ?? 'without type'}: ${found}`;
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the CloudEvents SDK does not read, or reads differently. */
function cloudEventProblem({ key, value, headers }: StoredMessage): string | undefined {
  const stored = { key, value, headers, body: value };
  const event = Kafka.toEvent<unknown>(stored);
  if (!(event instanceof CloudEvent)) return 'CloudEvents: not one event';
  try {
    event.validate();
  } catch (error) {
    return `CloudEvents: ${String(error)}`;
  }
  const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce_'));
  const differing = attributes.filter(([name, text]) => String(event[name.slice('ce_'.length)]) !== text);
  if (differing.length > 0) return `CloudEvents: ${differing.map(([name]) => name).join(', ')} read differently`;
  return JSON.stringify(event.data) === JSON.stringify(JSON.parse(value)) ? undefined : 'CloudEvents: other data';
}
