import { randomBytes } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { loadConfig } from './config';
import { keyListOf, keyListText } from './key-lists';

const settings = Type.Object({ KEY: keyListText({ entry: '[A-Za-z0-9+/]{43}=', use: 'tests' }) });
const newKey = () => randomBytes(32).toString('base64');

test('a list of up to four keys is read in its order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 4 }), (keys) => {
      const text = keys.map((key) => Buffer.from(key).toString('base64')).join(',');
      expect(keyListOf(loadConfig(settings, { KEY: text }).KEY)).toEqual(keys.map((key) => Buffer.from(key)));
    }),
  );
});

test.each([
  ['five keys', Array.from({ length: 5 }, newKey).join(',')],
  ['an empty entry', `${newKey()},`],
  ['an entry that is no key', `${newKey()},short`],
  ['a space', `${newKey()}, ${newKey()}`],
])('%s is refused, and not shown', (_name, text) => {
  expect(() => loadConfig(settings, { KEY: text })).toThrow('KEY');
  expect(() => loadConfig(settings, { KEY: text })).not.toThrow(text);
});
