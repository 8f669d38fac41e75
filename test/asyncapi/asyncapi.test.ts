import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorObject } from 'ajv';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { DEAD_LETTER, messages, topics } from '@gateway/contracts';
import type { AsyncApi, StoredMessage } from './documented';
import { createMessageCheck, readAsyncApi } from './documented';

const SCHEMA = readFileSync(join(__dirname, 'asyncapi-3.0.0.json'), 'utf8');
const document = readAsyncApi();

/** The schema brings its own copy of draft-07, under the name of ajv's. */
const ajv = addFormats(new Ajv({ allErrors: true, strict: false, meta: false, validateSchema: false }));
const validate = ajv.compile(JSON.parse(SCHEMA) as object);

/** Problems of a document by the specification's schema. */
function problemsOf(changed: unknown): ErrorObject[] {
  return validate(changed) ? [] : (validate.errors ?? []);
}

/** A copy with a change. */
function changed(change: (copy: AsyncApi) => void): AsyncApi {
  const copy = structuredClone(document);
  change(copy);
  return copy;
}

test('the schema of AsyncAPI is the recorded one', () => {
  const sum = createHash('sha256').update(SCHEMA).digest('hex');
  expect(sum).toBe('c885e94978fff8ab9804adc713c5acb8ef3fbfaca553b0ce482c2ce76db5f5fc');
});

test('the document is valid AsyncAPI 3.0', () => {
  expect(problemsOf(document)).toEqual([]);
});

test.each<[string, [part: string, value: unknown]]>([
  ['another version', ['asyncapi', '2.6.0']],
  ['a field that AsyncAPI does not have', ['info.licens', {}]],
  ['no title', ['info.title', undefined]],
  ['an action that does not exist', ['operations.apiEdgeSendsCardCommands.action', 'publish']],
  ['a topic without channel', ['operations.apiEdgeSendsCardCommands.channel', undefined]],
  ['a time that is text', ['channels.cardEvents.bindings.kafka.topicConfiguration', { 'retention.ms': '30 days' }]],
  ['a version of the binding that does not exist', ['channels.cardEvents.bindings.kafka.bindingVersion', '0.4']],
  ['a log-in that does not exist', ['components.securitySchemes.user.type', 'scram']],
  ['a schema that is none', ['components.schemas.EventHeaders.type', 'headers']],
])('the schema refuses %s', (_what, [part, value]) => {
  const copy = changed((whole) => {
    const path = part.split('.');
    const last = path.pop() ?? '';
    const holder = path.reduce(
      (inner, name) => inner[name] as Record<string, unknown>,
      whole as Record<string, unknown>,
    );
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  });
  expect(problemsOf(copy)).not.toEqual([]);
});

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  const target = (path: string): unknown =>
    path.split('/').reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
  expect(Array.from(references, ([, path = '']) => path).filter((path) => target(path) === undefined)).toEqual([]);
});

test('it has every topic and every message type', () => {
  const addresses = Object.values(document.channels).map(({ address }) => address);
  const declared = Object.values(topics).flatMap((topic) => [
    topic.name,
    ...('deadLetters' in topic ? [topic.deadLetters] : []),
  ]);
  expect(addresses.toSorted()).toEqual(declared.toSorted());
  const types = Object.keys(document.components.messages);
  expect(types.toSorted()).toEqual([...messages.map(({ type }) => type), DEAD_LETTER].toSorted());
});

/** The example of each message type, as it was in its topic. */
const examples = messages.map(({ type, topic }): [string, StoredMessage] => {
  const [example] = document.components.messages[type]?.examples ?? [];
  const payload = example?.payload as Record<string, unknown>;
  const { name, key } = topics[topic];
  return [
    type,
    { topic: name, key: String(payload?.[key]), value: JSON.stringify(payload), headers: example?.headers ?? {} },
  ];
});

test.each(examples)('%s has an example, which is as documented and a CloudEvent', (_type, example) => {
  expect(createMessageCheck(document)(example)).toBeUndefined();
});

describe('what is not as documented is named:', () => {
  const [, event] = examples.find(([type]) => type === 'CardCharged') as [string, StoredMessage];
  const withValue = (more: object): StoredMessage => ({
    ...event,
    value: JSON.stringify({ ...(JSON.parse(event.value) as object), ...more }),
  });
  const withHeaders = (more: object): StoredMessage => ({ ...event, headers: { ...event.headers, ...more } });

  test.each<[string, StoredMessage, string]>([
    ['a field that the document does not have', withValue({ pan: '4111' }), 'must NOT have additional properties pan'],
    ['a field of another type', withValue({ code: '0' }), '/code must be integer'],
    [
      'a header that the document does not have',
      withHeaders({ ce_tenant: 'a' }),
      'must NOT have additional properties',
    ],
    [
      'an event without number',
      { ...event, headers: without(event.headers, 'ce_aggregateversion') },
      'ce_aggregateversion',
    ],
    ['a type on the wrong topic', { ...event, topic: 'payout.events.v1' }, 'not documented for this topic'],
    ['a key that is no payment', { ...event, key: '' }, 'key: '],
    ['a topic of its own', { ...event, topic: 'card.secrets.v1' }, 'the topic is not documented'],
  ])('%s', (_what, message, problem) => {
    expect(createMessageCheck(document)(message)).toContain(problem);
  });

  test('a field that the document has lost', () => {
    const lost = changed(({ components: { schemas } }) => {
      const { properties } = schemas['CardCharged'] as { properties: Record<string, unknown> };
      delete properties['message'];
    });
    expect(createMessageCheck(lost)(event)).toContain('must NOT have additional properties message');
  });
});

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
}
