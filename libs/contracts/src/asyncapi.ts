import type { TSchema } from '@sinclair/typebox';
import type { HeaderKind } from './headers';
import { headerKindOf, messageHeaders } from './headers';
import type { MessageDeclaration } from './message';
import { messages } from './schema-files';
import type { ServiceDeclaration } from './services';
import { services } from './services';
import type { TopicName } from './topics';
import { DEAD_LETTER_PARTITIONS, DEAD_LETTER_RETENTION_DAYS, DEFAULT_PARTITIONS, topics } from './topics';

const DAY_MS = 86_400_000;
const KAFKA_BINDING = { bindingVersion: '0.4.0' };
const TAG = 'What the service of this name does. Its user and its consumer group have the same name.';
const NAMES = Object.keys(topics) as TopicName[];

/** What readers of the topics may rely on, as in docs/messages.md. Markdown. */
export const readingRules: readonly string[] = [
  '**Order.** Messages about one payment or payout are in order. There is no order between payments.',
  '**Duplicates.** A message can come more than once, and an event can come again after later ones. Remember the `ce_id` of the events you have seen; deduplicate commands by `reference`. An event never comes for the first time before the events of its `ce_subject` with a lower `ce_aggregateversion`.',
  '**Compatibility.** Within a version of a topic, fields are only added, and topics get further message types: ignore those that you do not know. No field goes away or gets another type. The schemas say what is written now: a release may promise more, such as a field that is always there from then on, and never less. Since 0.2.0 the status is constant in almost every type of event, and amount, currency, brand and MID are required where they are always there; older messages may lack fields. Keys stay, and retention does not get shorter. A list of values (`status`, `transactionType`, …) can get longer, and `code` is an open list: treat a value that you do not know as a type that you do not know. Anything else is a new topic with a higher version in its name, beside the old one until nobody reads that.',
  '**Start from the beginning** (`auto.offset.reset=earliest`) if you must not miss anything.',
];

/** A message as it was read from a topic. */
export interface MessageExample {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

/** The type under which the example of a dead letter is listed. */
export const DEAD_LETTER = 'DeadLetter';

interface Parts {
  /** Of the gateway. */
  readonly version: string;
  /** `host:port` of the broker that `npm start` runs. */
  readonly broker: string;
  /** By message type. */
  readonly examples: Readonly<Record<string, MessageExample>>;
}

type Json = Record<string, unknown>;

const reference = (...path: string[]): Json => ({ $ref: ['#', ...path].join('/') });
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
/** TypeBox keeps its own notes in symbols. */
const plain = (schema: TSchema | undefined): unknown => JSON.parse(JSON.stringify(schema ?? true));
const headersName = (kind: HeaderKind): string => `${capitalized(kind)}Headers`;

function deadLettersOf(topic: TopicName): string | undefined {
  const declared = topics[topic];
  return 'deadLetters' in declared ? declared.deadLetters : undefined;
}

/** Message types that share their data share its schema, which is named after their topic. */
function payloadName({ type, topic, written }: MessageDeclaration): string {
  return messages.filter((other) => other.written === written).length === 1 ? type : `${capitalized(topic)}Data`;
}

function example({ key, headers, payload }: MessageExample, name: string): Json {
  return { name, summary: `The message with the key ${key}, as it was read from the topic.`, headers, payload };
}

function messageObject(declaration: MessageDeclaration, { examples }: Parts): Json {
  const { type, topic, description, schema } = declaration;
  const found = examples[type];
  return {
    name: type,
    title: type,
    summary: description,
    contentType: 'application/json',
    correlationId: reference('components', 'correlationIds', 'request'),
    headers: reference('components', 'schemas', headersName(headerKindOf(topic))),
    payload: reference('components', 'schemas', payloadName(declaration)),
    bindings: { kafka: { key: plain(schema.properties[topics[topic].key]), ...KAFKA_BINDING } },
    ...(found !== undefined && { examples: [example(found, type)] }),
  };
}

function deadLetter({ examples }: Parts): Json {
  const found = examples[DEAD_LETTER];
  return {
    name: DEAD_LETTER,
    title: DEAD_LETTER,
    summary: 'A message that can never be processed: key, value and headers as they were, and why.',
    headers: reference('components', 'schemas', headersName('deadLetter')),
    payload: { description: 'As it was in the topic' },
    ...(found !== undefined && { examples: [example(found, DEAD_LETTER)] }),
  };
}

function channel(address: string, description: string, kafka: Json, types: readonly string[]): Json {
  return {
    address,
    description,
    messages: Object.fromEntries(types.map((type) => [type, reference('components', 'messages', type)])),
    bindings: { kafka: { ...kafka, ...KAFKA_BINDING } },
  };
}

const kept = (retentionMs: number): Json => ({
  topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': retentionMs },
});

function channels(): Json {
  const declared = NAMES.map((topic) => {
    const { name, key, description, retentionMs } = topics[topic];
    const types = messages.filter((message) => message.topic === topic).map(({ type }) => type);
    const kafka = { partitions: DEFAULT_PARTITIONS, ...kept(retentionMs) };
    return [topic, channel(name, `${description}. The key is \`${key}\`.`, kafka, types)];
  });
  const deadLetters = NAMES.flatMap((topic) => {
    const address = deadLettersOf(topic);
    if (address === undefined) return [];
    const description = `What can never be processed of ${topics[topic].name}.`;
    const kafka = { partitions: DEAD_LETTER_PARTITIONS, ...kept(DEAD_LETTER_RETENTION_DAYS * DAY_MS) };
    return [[`${topic}DeadLetters`, channel(address, description, kafka, [DEAD_LETTER])]];
  });
  return Object.fromEntries([...declared, ...deadLetters]) as Json;
}

/** What the services of the gateway do with the topics. */
function operations(): Json {
  const all = Object.entries<ServiceDeclaration>(services).flatMap(([id, service]) => {
    const operation = (action: 'send' | 'receive', channelName: string, more: Json = {}) => [
      `${id}${action === 'send' ? 'Sends' : 'Receives'}${capitalized(channelName)}`,
      {
        action,
        channel: reference('channels', channelName),
        tags: [reference('components', 'tags', service.name)],
        ...more,
      },
    ];
    const group = { bindings: { kafka: { groupId: { type: 'string', const: service.name }, ...KAFKA_BINDING } } };
    return [
      ...service.produces.map((topic) => operation('send', topic)),
      ...service.consumes.map((topic) => operation('receive', topic, group)),
      ...(service.reads ?? []).map((topic) => operation('receive', topic)),
      ...service.consumes
        .filter((topic) => deadLettersOf(topic) !== undefined)
        .map((topic) => operation('send', `${topic}DeadLetters`)),
    ];
  });
  return Object.fromEntries(all) as Json;
}

function components(parts: Parts): Json {
  const headers = Object.entries(messageHeaders).map(([kind, schema]) => [
    headersName(kind as HeaderKind),
    plain(schema),
  ]);
  const payloads = messages.map((message) => [payloadName(message), plain(message.written)]);
  const tags = Object.values<ServiceDeclaration>(services)
    .filter(({ consumes, produces }) => consumes.length + produces.length > 0)
    .map(({ name }) => [name, { name, description: TAG }]);
  return {
    messages: {
      ...Object.fromEntries(messages.map((message) => [message.type, messageObject(message, parts)])),
      [DEAD_LETTER]: deadLetter(parts),
    },
    schemas: Object.fromEntries([...headers, ...payloads]),
    correlationIds: {
      request: { location: '$message.header#/ce_correlationid', description: "The merchant's request" },
    },
    securitySchemes: {
      user: {
        type: 'scramSha512',
        description: 'A user of its own for each reader: `READ` on its topics and its group',
      },
    },
    tags: Object.fromEntries(tags),
  };
}

/** The AsyncAPI 3.0 document of all topics, for those who read them. A message's name is its `ce_type`. */
export function asyncApiDocument(parts: Parts): Json {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Payment gateway: topics',
      version: parts.version,
      description: [
        "CloudEvents 1.0 in Kafka's binary mode: attributes in headers, data as JSON in the value. An installation may put a prefix before all names of topics and groups (`TOPIC_PREFIX`), and have another number of partitions (`KAFKA_PARTITIONS`). Amounts (`…E4`) are integers in 1/10000 of the currency, times milliseconds since 1970 in UTC.",
        ...readingRules,
      ].join('\n\n'),
    },
    defaultContentType: 'application/json',
    servers: {
      sandbox: { host: parts.broker, protocol: 'kafka', description: '`npm start`' },
      production: {
        host: '{brokers}',
        protocol: 'kafka-secure',
        security: [reference('components', 'securitySchemes', 'user')],
        variables: { brokers: { description: '`KAFKA_BROKERS` of the installation', default: 'kafka:9093' } },
      },
    },
    channels: channels(),
    operations: operations(),
    components: components(parts),
  };
}
