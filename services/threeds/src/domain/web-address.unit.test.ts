import fc from 'fast-check';
import { allowedReturnUrl, webAddress } from './web-address';

const rules = { redirectUrl: 'https://shop.example/back?x=1', returnHosts: ['pay.example', '127.0.0.1'] };

test.each([
  ['https://pay.example', 'https://pay.example/'],
  ['https://PAY.example/a', 'https://pay.example/a'],
  ['https://pay.example:8443/a?b#c', 'https://pay.example:8443/a?b#c'],
  ['https://127.0.0.1:8443/', 'https://127.0.0.1:8443/'],
  ['https://shop.example/back?x=1', 'https://shop.example/back?x=1'],
  ['https://pay.example/größe', 'https://pay.example/gr%C3%B6%C3%9Fe'],
])('%s is allowed', (given, address) => expect(allowedReturnUrl(given, rules)).toBe(address));

test.each([
  'https://shop.example/back',
  'https://shop.example/',
  'https://a.pay.example/',
  'https://pay.example.evil.example/',
  'https://pay.example@evil.example/',
  'https://x@pay.example/',
  'https://:y@pay.example/',
  'https://evil.example#@127.0.0.1',
  'https://evil.example\\@pay.example/',
  'https://pay.example\\.evil.example/',
  'https://evil.example?@pay.example/',
  'http://pay.example/',
  'ftp://pay.example/',
  'javascript:alert(1)//pay.example',
  'https:pay.example/',
  'https:/pay.example/',
  'pay.example',
  '//pay.example/',
  ' https://pay.example/',
  'https://pay.example/\n',
  'https://pay.ex\tample/',
  'https://päy.example/',
  'https://pay.example．evil.example/',
  'https://evil.example／@pay.example/',
  'https://pay.example/\u2028',
  'https://pay.example./',
  'https://',
  '',
])('%j is refused', (given) => expect(allowedReturnUrl(given, rules)).toBeUndefined());

test('the address of the AUTH3D may be in any script', () => {
  const redirectUrl = 'https://магазин.example/заказ';
  expect(allowedReturnUrl(redirectUrl, { redirectUrl, returnHosts: [] })).toBe(
    'https://xn--80aairftm.example/%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7',
  );
});

test('the address of the AUTH3D is refused if browsers would read it differently', () => {
  const redirectUrl = 'https://user@shop.example/';
  expect(allowedReturnUrl(redirectUrl, { redirectUrl, returnHosts: [] })).toBeUndefined();
  expect(allowedReturnUrl('', { redirectUrl: '', returnHosts: [''] })).toBeUndefined();
});

test('2048 characters and no more', () => {
  const start = 'https://pay.example/';
  expect(allowedReturnUrl(start.padEnd(2048, 'a'), rules)).toBeDefined();
  expect(allowedReturnUrl(start.padEnd(2049, 'a'), rules)).toBeUndefined();
});

test('an allowed address is always https and on an allowed host', () => {
  const pieces = fc.constantFrom(
    'https://',
    'pay.example',
    'evil.example',
    '@',
    '#',
    '\\',
    '/',
    '?',
    ':',
    '.',
    '．',
    '／',
    'ｐay.example',
    '%2f',
    '[',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 }))), (parts) => {
      const allowed = allowedReturnUrl(parts.join(''), rules);
      if (allowed === undefined) return;
      const { protocol, hostname, username, password } = new URL(allowed);
      expect({ protocol, hostname, username, password }).toEqual({
        protocol: 'https:',
        hostname: 'pay.example',
        username: '',
        password: '',
      });
    }),
    { numRuns: 1000 },
  );
});

test('a host cannot inject syntax into a policy', () => {
  for (const text of ['https://a;b.example/', "https://a'b.example/", 'https://a,b.example/', 'https://a*.example/']) {
    expect(webAddress(text, ['https:'])).toBeUndefined();
  }
  expect(webAddress('https://[::1]:8443/', ['https:'])?.origin).toBe('https://[::1]:8443');
});
