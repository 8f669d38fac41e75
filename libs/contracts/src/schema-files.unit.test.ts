import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { queries } from './queries';
import { messages, registryFile, schemaFiles } from './schema-files';
import { topics } from './topics';

const DOCS = join(__dirname, '..', '..', '..', 'docs');
const FOLDER = join(DOCS, 'schemas');

test('docs/schemas holds exactly the schemas of the declared messages (npm run docs writes them)', () => {
  const written = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]));
  expect([...written.keys()].sort()).toEqual([...schemaFiles().keys()].sort());
  for (const [name, content] of schemaFiles()) expect(written.get(name)).toBe(content);
});

test('docs/response-codes.json holds the registry (npm run docs writes it)', () => {
  expect(readFileSync(join(DOCS, 'response-codes.json'), 'utf8')).toBe(registryFile());
});

test('the schemas of messages and answers are valid by JSON Schema', () => {
  const ajv = new Ajv();
  const named = [
    ...messages.map(({ type, schema }) => [type, schema] as const),
    ...Object.values(queries).map(({ path, answer }) => [path, answer] as const),
  ];
  const problems = named.filter(([, schema]) => ajv.validateSchema(schema) !== true).map(([name]) => name);
  expect(problems).toEqual([]);
  expect(ajv.validateSchema({ type: 'text' })).toBe(false);
});

test('no message has a field for card numbers, CVVs or passwords', () => {
  for (const { type, schema } of messages) {
    const fields = JSON.stringify(schema).match(/"(pan|cvv|cardNumber|card_number|password|secret)":/gi);
    expect({ type, fields }).toEqual({ type, fields: null });
  }
});

test('message types are declared once', () => {
  const types = messages.map((message) => message.type);
  expect(new Set(types).size).toBe(types.length);
});

test('every message has the field that is its Kafka key', () => {
  const without = messages.filter(({ topic, schema }) => !schema.required?.includes(topics[topic].key));
  expect(without.map(({ type }) => type)).toEqual([]);
});
