import fc from 'fast-check';
import { returnAddress } from './return-address';

const NAMES = { reference: 'R', transactionUniqueId: 'u' };

test.each([
  ['https://a.example', 'https://a.example/?reference=R&transaction_unique_id=u'],
  ['https://a.example/p', 'https://a.example/p?reference=R&transaction_unique_id=u'],
  ['https://a.example/p?', 'https://a.example/p?reference=R&transaction_unique_id=u'],
  ['https://a.example/p?x=%20a+b&y', 'https://a.example/p?x=%20a+b&y&reference=R&transaction_unique_id=u'],
  ['https://a.example/p?x=1&', 'https://a.example/p?x=1&reference=R&transaction_unique_id=u'],
  ['https://a.example/p?x=1#f?g#h', 'https://a.example/p?x=1&reference=R&transaction_unique_id=u#f?g#h'],
])('%s with the names of the operation', (redirectUrl, address) => {
  expect(returnAddress(redirectUrl, NAMES)).toBe(address);
});

test('before the first attempt there is no reference', () => {
  expect(returnAddress('https://a.example/', { transactionUniqueId: 'u' })).toBe(
    'https://a.example/?transaction_unique_id=u',
  );
});

test('ids of the operation cannot inject into the address', () => {
  const address = returnAddress('https://a.example/', { reference: 'R', transactionUniqueId: 'a&b=c#d+e%20' });
  const { searchParams, hash } = new URL(address);
  expect([...searchParams]).toEqual([
    ['reference', 'R'],
    ['transaction_unique_id', 'a&b=c#d+e%20'],
  ]);
  expect(hash).toBe('');
});

test.each([
  [
    'https://магазин.example/заказ?имя=Анна#конец',
    'https://xn--80aairftm.example/%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7?%D0%B8%D0%BC%D1%8F=%D0%90%D0%BD%D0%BD%D0%B0&reference=R&transaction_unique_id=u#%D0%BA%D0%BE%D0%BD%D0%B5%D1%86',
  ],
  ['https://shop.example/größe', 'https://shop.example/gr%C3%B6%C3%9Fe?reference=R&transaction_unique_id=u'],
  ['https://shop.example/😀', 'https://shop.example/%F0%9F%98%80?reference=R&transaction_unique_id=u'],
])('%s in the letters of a header', (redirectUrl, address) => {
  expect(returnAddress(redirectUrl, NAMES)).toBe(address);
});

test('an address in any script becomes a valid header with the same target', () => {
  const part = fc.string({ unit: 'grapheme' }).filter((text) => !/[?#\\\s]/.test(text));
  fc.assert(
    fc.property(part, part, part, (path, query, fragment) => {
      const redirectUrl = `https://shop.example/${path}?${query}#${fragment}`;
      const address = new URL(returnAddress(redirectUrl, NAMES));
      expect(address.href).toMatch(/^[\x21-\x7e]+$/);
      const { pathname, hash, searchParams } = new URL(redirectUrl);
      expect([address.pathname, address.hash]).toEqual([pathname, hash]);
      expect([...address.searchParams].slice(0, -2)).toEqual([...searchParams]);
    }),
  );
});
