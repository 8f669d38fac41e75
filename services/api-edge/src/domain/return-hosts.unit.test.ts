import { isRegisteredReturn } from './return-hosts';

const account = { returnHosts: ['shop.example', '127.0.0.1', '[::1]'] };
const sale = (currency: string, redirectUrl?: string) => ({
  transactionType: 'SALE3D' as const,
  currency,
  ...(redirectUrl === undefined ? {} : { redirectUrl }),
});

test.each([
  'https://shop.example/back',
  'https://SHOP.example:8443/back?of=1#x',
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://[::1]:8443/',
])('in XTS a browser may return to %s', (url) => expect(isRegisteredReturn(sale('XTS', url), account)).toBe(true));

test.each([
  'https://phishing.example/shop.example',
  'https://www.shop.example/',
  'https://shop.example.phishing.example/',
  'https://shop.example./',
  'https://shop%2eexample.phishing.example/',
])('in XTS no browser returns to %s', (url) => {
  expect(isRegisteredReturn(sale('XTS', url), account)).toBe(false);
  expect(isRegisteredReturn(sale('EUR', url), account)).toBe(true);
});

test('a request without an address, or without money, returns nowhere', () => {
  expect(isRegisteredReturn(sale('XTS'), account)).toBe(true);
  expect(isRegisteredReturn({ transactionType: 'CHECK' }, account)).toBe(true);
});
