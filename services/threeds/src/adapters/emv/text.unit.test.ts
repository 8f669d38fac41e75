import fc from 'fast-check';
import { emvEmail, emvIpAddress, emvText } from './text';

test.each([
  ['Zoë Müller-Łęcka', 'Zoe Muller-Lecka'],
  ['Straße & Söhne', 'Strase & Sohne'],
  ['Иван  Щукин', 'Ivan SHTukin'],
  ['Γιώργος', 'Giorgos'],
  ['O’Neil – “Bob”', "O'Neil - 'Bob'"],
  ['Ａｎｎ ﬁx', 'Ann fix'],
  ['山田 Hanako', 'Hanako'],
  ['Nguyễn Văn Đạt', 'Nguyen Van Dat'],
  ['Ann\tLee', 'Ann Lee'],
])('%s becomes %s', (text, expected) => {
  expect(emvText(text, 2, 45)).toBe(expected);
});

test('what has too few Latin letters is left out', () => {
  expect(emvText('山田 花子', 2, 45)).toBeUndefined();
  expect(emvText('山 X', 2, 45)).toBeUndefined();
});

test('whatever comes, only EMV’s characters and as many as fit remain', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(emvText(text, 2, 45) ?? 'left out').toMatch(/^[!-~](?:[ -~]{0,43}[!-~])?$/);
    }),
  );
});

test.each([
  ['ann@example.com', 'ann@example.com'],
  ['ann@müller.example', 'ann@xn--mller-kva.example'],
  ['jürgen@example.de', undefined],
  [`${'a'.repeat(250)}@example.com`, undefined],
  ['nobody', undefined],
])('the e-mail address %s becomes %s', (email, expected) => {
  expect(emvEmail(email)).toBe(expected);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8::1', '2001:0DB8:0000:0000:0000:0000:0000:0001'],
  ['::', '0000:0000:0000:0000:0000:0000:0000:0000'],
  ['1::', '0001:0000:0000:0000:0000:0000:0000:0000'],
  ['64:ff9b::192.0.2.33', '0064:FF9B:0000:0000:0000:0000:C000:0221'],
  ['2001:db8:1:2:3:4:5:6', '2001:0DB8:0001:0002:0003:0004:0005:0006'],
])('the address %s becomes %s', (address, expected) => {
  expect(emvIpAddress(address)).toBe(expected);
});
