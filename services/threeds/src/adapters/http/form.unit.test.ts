import { rawText } from '@gateway/contracts';
import { parseForm } from './form';

const FORM = 'application/x-www-form-urlencoded';
const parsed = (body: string | Buffer, type: string | undefined = FORM) => {
  const fields = parseForm(Buffer.from(body), rawText(type));
  return fields && Object.fromEntries(Array.from(fields, ([name, value]) => [name, value.within(100)]));
};

const ofFields = (count: number): string => Array.from({ length: count }, (_, i) => `${i}=`).join('&');

test('a form has up to a hundred fields', () => {
  expect(Object.keys(parsed(ofFields(100)) ?? {})).toHaveLength(100);
});

test('fields by name', () => {
  expect(parsed('a=1&b=x+y%26&c=')).toEqual({ a: '1', b: 'x y&', c: '' });
  expect(parsed('a=%C3%BC', 'Application/X-WWW-Form-Urlencoded; charset=utf-8')).toEqual({ a: 'ü' });
  expect(parsed('')).toEqual({});
  expect(parsed('__proto__=1')).not.toEqual({ polluted: 1 });
});

test.each([
  ['a duplicate name', 'a=1&b=2&a=1', FORM],
  ['the same name, escaped', 'a=1&%61=2', FORM],
  ['invalid UTF-8', Buffer.from([0x61, 0x3d, 0xff]), FORM],
  ['a form with more fields than anybody sends', ofFields(101), FORM],
  ['another type', 'a=1', 'multipart/form-data'],
  ['a type with only the same prefix', 'a=1', `${FORM}2`],
])('%s is no form', (_what, body, type) => expect(parsed(body, type)).toBeUndefined());

test('no type is no form', () => expect(parseForm(Buffer.from('a=1'), undefined)).toBeUndefined());
