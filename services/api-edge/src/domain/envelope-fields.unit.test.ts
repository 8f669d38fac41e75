import { DUPLICATE } from './body';
import { INVALID, readApiVersion, readText } from './envelope-fields';
import type { Sent } from './raw-fields.fixture';
import { rawFields } from './raw-fields.fixture';

const version = (value: Sent) => readApiVersion(rawFields({ api_version: value }));
const credential = (value: Sent) => readText(rawFields({ merchant_account: value }), 'merchant_account', 6, 32);

describe('api_version', () => {
  it.each([1, 1.0, '1', '1.0', '1.00', '01'])('%j is supported', (value) => expect(version(value)).toBe('ok'));

  it.each(['', null])('%j is missing', (value) => expect(version(value)).toBe('missing'));

  it('is missing when it was not sent', () => expect(readApiVersion(rawFields())).toBe('missing'));

  it.each([0, 2, 1.1, -1, Infinity, '2', '1.1', '1.', '.1', '+1', '-1', '1e0', '0x1', ' 1', '1\n', 'one', '0', '11'])(
    '%j is not supported',
    (value) => expect(version(value)).toBe('unsupported'),
  );

  it('is compared as text, not as a rounded double', () => {
    expect(version('1.00000000000000000000000000001')).toBe('unsupported');
  });

  it.each<[Sent]>([[true], [false], [DUPLICATE], [`${'0'.repeat(1_000)}1`]])('%p is not supported', (value) =>
    expect(version(value)).toBe('unsupported'),
  );
});

describe('a text outside the table', () => {
  it('is absent when not sent, empty or null', () => {
    expect(readText(rawFields(), 'merchant_account')).toBeUndefined();
    expect(credential('')).toBeUndefined();
    expect(credential(null)).toBeUndefined();
  });

  it('is the text as sent, if its length is in bounds', () => {
    expect(credential('a'.repeat(5))).toBe(INVALID);
    expect(credential('a'.repeat(6))).toBe('aaaaaa');
    expect(credential('😀'.repeat(32))).toBe('😀'.repeat(32));
    expect(credential('a'.repeat(33))).toBe(INVALID);
    expect(readText(rawFields({ transaction_type: 'X' }), 'transaction_type')).toBe('X');
    expect(readText(rawFields({ transaction_type: 'x'.repeat(65_536) }), 'transaction_type')).toBe(INVALID);
  });

  it.each<[Sent]>([[123456], [true], [DUPLICATE], ['demo\0merchant'], ['demo\ud800merchant']])(
    '%j is invalid',
    (value) => expect(credential(value)).toBe(INVALID),
  );
});
