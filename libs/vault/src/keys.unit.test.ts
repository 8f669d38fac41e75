import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { ConfigurationError, messageOf } from '@gateway/service-kit';
import { readKeys, UnknownKeyError } from './keys';

const key = (bytes = 32): string => randomBytes(bytes).toString('base64');

type Setting = 'CARD_KEYS' | 'TOKEN_KEYS';

async function problemOf(config: Partial<Record<Setting, string>>): Promise<string> {
  const read = readKeys(config as Record<Setting, string>, Object.keys(config) as Setting[]);
  const error: unknown = await read.catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ConfigurationError);
  return messageOf(error);
}

describe('keys', () => {
  const good = key();

  it.each([
    ['', 'CARD_KEYS entry 1 is not of the form id:base64'],
    [good, 'entry 1 is not of the form'],
    [`a:${good},`, 'entry 2 is not of the form'],
    [`a b:${good}`, 'entry 1 has an id that is not'],
    [`a:${good},a:${good}`, 'entry 2 repeats the id "a"'],
    [`a:${key(31)}`, 'entry 1 has a key that is not the base64 of 32 bytes'],
    [`a:${good.slice(0, -1)}`, 'entry 1 has a key that is not the base64 of 32 bytes'],
    [`a:!!${good}`, 'entry 1 has a key that is not the base64 of 32 bytes'],
    [Array.from({ length: 17 }, (_, index) => `k${index}:${key()}`).join(), 'more than 16'],
  ])('refuses %j', async (text, problem) => {
    expect(await problemOf({ CARD_KEYS: text })).toContain(problem);
  });

  it('reports the problems of all settings together, and no key', async () => {
    const problem = await problemOf({ CARD_KEYS: `${good},b:short,c:${good},c:${good}`, TOKEN_KEYS: 'a:c2hvcnQ=' });
    expect(problem).toBe(
      'Configuration: CARD_KEYS entry 1 is not of the form id:base64; CARD_KEYS entry 2 has a key that is ' +
        'not the base64 of 32 bytes; CARD_KEYS entry 4 repeats the id "c"; TOKEN_KEYS entry 1 has a key that is not the base64 of 32 bytes.',
    );
  });

  it('come in order, the active one first', async () => {
    const { CARD_KEYS: keys } = await readKeys({ CARD_KEYS: `2026:${good}, 2025:${key()}` }, ['CARD_KEYS']);
    expect(keys.active.id).toBe('2026');
    expect(keys.all.map(({ id }) => id)).toEqual(['2026', '2025']);
    expect(keys.find('2026').expose().toString('base64')).toBe(good);
    expect(() => keys.find('2024')).toThrow(UnknownKeyError);
    expect(() => keys.find('2024')).toThrow('"2024" is not in CARD_KEYS');
  });

  it('are not printed', async () => {
    const keys = await readKeys({ CARD_KEYS: `k1:${good}` }, ['CARD_KEYS']);
    const printed = inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify(keys);
    expect(printed).not.toContain(good);
    expect(printed).not.toContain(Buffer.from(good, 'base64').toString('hex'));
  });
});
