import { RawText } from '@gateway/contracts';
import { DUPLICATE, isAbsent, NAMES_MAX, parseFormBody, parseJsonBody } from './body';
import type { RawFields, RawValue } from './body';

const bytes = (text: string) => new TextEncoder().encode(text);
const json = (text: string) => parseJsonBody(bytes(text));
const form = (text: string) => parseFormBody(bytes(text));

function fieldsOf(parsed: RawFields | 'malformed'): [string, unknown][] {
  if (parsed === 'malformed') throw new Error('malformed');
  return Array.from(parsed, ([name, value]) => [
    name.start(LONG),
    value instanceof RawText ? value.start(LONG) : value,
  ]);
}

const LONG = 100_000;

const INVALID_UTF8 = [
  [0xff],
  [0x80],
  [0xc3],
  [0xc0, 0xaf], // overlong
  [0xed, 0xa0, 0x80], // half a surrogate pair
  [0xf4, 0x90, 0x80, 0x80], // beyond U+10FFFF
];

describe('a JSON body', () => {
  it('gives its fields in order, with their types', () => {
    const text = '{"b":"ü😀","a":1.5,"t":true,"n":null,"2":"","1":" "}';
    expect(fieldsOf(json(text))).toEqual([
      ['b', 'ü😀'],
      ['a', 1.5],
      ['t', true],
      ['n', null],
      ['2', ''],
      ['1', ' '],
    ]);
  });

  it.each(['', ' ', '{', '{"a":1', '{a:1}', "{'a':1}", '{"a":NaN}', '{"a":1,}', '{"a":"\u0000"}', '{}{}', 'a=1'])(
    'is malformed when it is not JSON: %j',
    (text) => expect(json(text)).toBe('malformed'),
  );

  it.each(['[]', '[{"a":1}]', '"text"', '1', 'null', 'true'])('is malformed when it is not an object: %s', (text) =>
    expect(json(text)).toBe('malformed'),
  );

  it.each(INVALID_UTF8)('is malformed when it is not UTF-8: %p', (...invalid) => {
    expect(parseJsonBody(Uint8Array.from([...bytes('{"a":"'), ...invalid, ...bytes('"}')]))).toBe('malformed');
  });

  it('treats __proto__ and constructor like any other key', () => {
    const parsed = json('{"__proto__":"p","constructor":"c"}');
    expect(fieldsOf(parsed)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
    expect((parsed as RawFields).get('amount')).toBeUndefined();
    expect((parsed as RawFields).get('toString')).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty('amount');
  });

  it('keeps numbers out of range as Infinity', () => {
    expect(fieldsOf(json('{"a":1e400,"b":-1e400}'))).toEqual([
      ['a', Infinity],
      ['b', -Infinity],
    ]);
  });

  it.each(['[', '{"a":'])('is malformed with 64 KiB of nested %s, closed or not', (open) => {
    const depth = Math.floor(32_000 / open.length);
    const close = open === '[' ? ']' : '}';
    expect(json(`{"deep":${open.repeat(depth)}1${close.repeat(depth)},"a":"1"}`)).toBe('malformed');
    expect(json(`{"deep":${open.repeat(depth)}`)).toBe('malformed');
  });

  it.each(['{"a":1,"a":1}', '{"a":1,"b":2,"\\u0061":3}', '{"":1,"":2}', '{"a":[]}', '{"a":{}}', '{"__proto__":{}}'])(
    'is malformed with a name twice, an array or an object: %s',
    (text) => expect(json(text)).toBe('malformed'),
  );

  it('weighs what it takes in memory', () => {
    expect((json('{"a":"b"}') as RawFields).bytes).toBe(9 + 200);
    expect((json('{"a":"ü"}') as RawFields).bytes).toBe(2 * 9 + 200);
    expect((form('a=b&c=') as RawFields).bytes).toBe(6 + 2 * 200);
  });

  it('has as many names as an endpoint could take, and no more', () => {
    const keys = Array.from({ length: NAMES_MAX }, (_, i) => `"${i}":""`);
    expect(fieldsOf(json(`{${keys.join(',')}}`))).toHaveLength(NAMES_MAX);
    expect(json(`{${keys.join(',')},"x":1}`)).toBe('malformed');
  });
});

describe('a form body', () => {
  it('gives its fields in order, decoded', () => {
    expect(fieldsOf(form('b=%C3%BC%F0%9F%98%80+x%2By&a=1&%61b=ü'))).toEqual([
      ['b', 'ü😀 x+y'],
      ['a', '1'],
      ['ab', 'ü'],
    ]);
  });

  it('accepts empty pairs, keys without a value and = in a value', () => {
    expect(fieldsOf(form('&&a&b=&c=d=e&=f&'))).toEqual([
      ['a', ''],
      ['b', ''],
      ['c', 'd=e'],
      ['', 'f'],
    ]);
    expect(fieldsOf(form(''))).toEqual([]);
  });

  it.each(['a=1&a=2', 'a=1&a=1', 'a=&a=', 'a&a', 'a=1&%61=2', 'a=1&a=2&a=3', 'a=1&b=2&a='])(
    'marks a repeated key: %s',
    (text) => expect((form(text) as RawFields).get('a')).toBe(DUPLICATE),
  );

  it.each(['a=%', 'a=%1', 'a=%zz', '%=1', 'a=%u0041', 'a=100%&b=1'])('is malformed with a bad escape: %s', (text) =>
    expect(form(text)).toBe('malformed'),
  );

  it.each(INVALID_UTF8)('is malformed when it is not UTF-8, raw or escaped: %p', (...invalid) => {
    const escaped = invalid.map((byte) => `%${byte.toString(16)}`).join('');
    expect(form(`a=${escaped}`)).toBe('malformed');
    expect(form(`${escaped}=a`)).toBe('malformed');
    expect(parseFormBody(Uint8Array.from([...bytes('a='), ...invalid]))).toBe('malformed');
  });

  it('treats __proto__ and bracketed names like any other key', () => {
    const parsed = form('__proto__=x&__proto__[amount]=1&amount[$gt]=');
    expect(fieldsOf(parsed)).toEqual([
      ['__proto__', 'x'],
      ['__proto__[amount]', '1'],
      ['amount[$gt]', ''],
    ]);
  });

  it('has as many pairs as an endpoint could take, and no more', () => {
    const keys = Array.from({ length: NAMES_MAX }, (_, i) => `k${i}`);
    expect(fieldsOf(form(keys.join('&&')))).toHaveLength(NAMES_MAX);
    expect(form(`${keys.join('&')}&x`)).toBe('malformed');
    expect(form('a&'.repeat(NAMES_MAX + 1))).toBe('malformed');
  });
});

it('only undefined, null and text without any character but spaces count as absent', () => {
  expect([undefined, null].map(isAbsent)).toEqual([true, true]);
  expect(['', ' ', '  ', '\u00a0\u3000', ' '.repeat(255)].map((text) => isAbsent(new RawText(text)))).toEqual(
    Array(5).fill(true),
  );
  const raw = (text: string): RawText => new RawText(text);
  const present: readonly RawValue[] = [0, false, DUPLICATE, ...['\t', ' .', ' '.repeat(256)].map(raw)];
  expect(present.map(isAbsent)).toEqual(Array(6).fill(false));
});
