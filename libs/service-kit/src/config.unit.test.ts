import { Type } from '@sinclair/typebox';
import { brokerList, loadConfig } from './config';

const schema = Type.Object({
  PORT: Type.Integer({ minimum: 1, default: 8080 }),
  URL: Type.String({ minLength: 1 }),
  MODE: Type.Optional(Type.String()),
});

test('strings are converted as the schema says, and defaults apply', () => {
  expect(loadConfig(schema, { PORT: '9', URL: 'x', OTHER: 'y' })).toEqual({ PORT: 9, URL: 'x' });
  expect(loadConfig(schema, { PORT: '', URL: 'x' })).toEqual({ PORT: 8080, URL: 'x' });
});

test('all problems are reported together', () => {
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/PORT must be integer.*|URL is not set/);
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/PORT/);
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/URL is not set/);
});

test('the result is frozen', () => {
  expect(Object.isFrozen(loadConfig(schema, { URL: 'x' }))).toBe(true);
});

test('brokers are a comma-separated list', () => {
  expect(brokerList('a:1, b:2')).toEqual(['a:1', 'b:2']);
});
