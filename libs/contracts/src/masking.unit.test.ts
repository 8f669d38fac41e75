import fc from 'fast-check';
import { isCardNumber, isInCardRange, isLuhnValid } from './card-number';
import { maskCardNumbers } from './masking';

function withCheckDigit(digits: string): string {
  return [...'0123456789'].map((check) => digits + check).find(isLuhnValid)!;
}

describe('a card number', () => {
  it.each(['4111111111111111', '5555555555554444', '378282246310005', '0000000000000000', '4222222222222'])(
    '%s is one',
    (text) => expect(isCardNumber(text)).toBe(true),
  );

  it.each([
    '4111111111111112',
    '411111111111111',
    '4111 1111 1111 1111',
    ' 4111111111111111',
    '4111111111111111\n',
    '４１１１１１１１１１１１１１１１',
    '411111111111111a',
    '',
  ])('%j is none', (text) => expect(isCardNumber(text)).toBe(false));

  it.each([12, 13, 19, 20])('of %i digits is one from 13 to 19', (length) => {
    expect(isCardNumber(withCheckDigit('4'.padEnd(length - 1, '7')))).toBe(length >= 13 && length <= 19);
  });

  it('fails with any wrong digit', () => {
    const right = '4012000300001003';
    for (let i = 0; i < right.length; i += 1) {
      for (const digit of '0123456789') {
        const changed = right.slice(0, i) + digit + right.slice(i + 1);
        expect(isLuhnValid(changed)).toBe(changed === right);
      }
    }
  });
});

describe('card ranges', () => {
  it.each([
    ['Visa', '400000', '499999'],
    ['Mastercard', '510000', '559999'],
    ['Mastercard, new', '222100', '272099'],
    ['American Express 34', '340000', '349999'],
    ['American Express 37', '370000', '379999'],
    ['Discover 6011', '601100', '601199'],
    ['Discover 65', '650000', '659999'],
    ['Discover 644', '644000', '649999'],
    ['Discover 622', '622126', '622925'],
    ['JCB', '352800', '358999'],
    ['Diners 300', '300000', '305999'],
    ['Diners 36', '360000', '369999'],
    ['Diners 38', '380000', '399999'],
    ['Maestro 50', '500000', '509999'],
    ['Maestro 56', '560000', '699999'],
    ['UnionPay', '620000', '629999'],
  ])('hold %s', (_, from, to) => {
    expect([from, to].map(isInCardRange)).toEqual([true, true]);
  });

  it.each([
    '000000',
    '100000',
    '199999',
    '222099',
    '272100',
    '299999',
    '306000',
    '339999',
    '350000',
    '352799',
    '359000',
  ])('do not hold %s', (prefix) => expect(isInCardRange(prefix)).toBe(false));
  it.each(['700000', '999999'])('do not hold %s', (prefix) => expect(isInCardRange(prefix)).toBe(false));
});

describe('masking', () => {
  it.each([
    ['4111111111111111', '411111******1111'],
    ['4111 1111 1111 1111', '4111 11** **** 1111'],
    ['4111-1111-1111-1111', '4111-11**-****-1111'],
    ['4111-1111 1111-1111', '4111-11** ****-1111'],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '4 1 1 1 1 1 * * * * * * 1 1 1 1'],
    ['378282246310005', '378282*****0005'],
    ['3782 822463 10005', '3782 82**** *0005'],
    ['4222222222222', '422222***2222'],
    ['card=4111111111111111;', 'card=411111******1111;'],
    ['x4111111111111111y', 'x411111******1111y'],
    ['4111111111111111/5555555555554444', '411111******1111/555555******4444'],
    ['4111111111111111 5555555555554444', '411111******1111 555555******4444'],
    ['flat 7 4111 1111 1111 1111 12', 'flat 7 4111 11** **** 1111 12'],
    ['12-4111111111111111-12', '12-411111******1111-12'],
    ['4111111111111111=30121011', '411111******1111=30121011'],
    ['😀 4111111111111111 ü', '😀 411111******1111 ü'],
    ['(4111111111111111', '(411111******1111'],
  ])('hides the middle of %s', (text, masked) => {
    expect(maskCardNumbers(text)).toBe(masked);
    expect(maskCardNumbers(masked)).toBe(masked);
  });

  it.each([
    '',
    'Main Street 12',
    '4111111111111112', // check digit wrong
    '1000000000000008', // no card range
    '411111111111', // 12 digits
    '41111111111111111111', // 20 digits in a row
    '04111111111111111', // within a longer row
    '4111   1111   1111   1111', // three spaces
    '4111, 1111, 1111, 1111',
    '4111 1111 1111',
    '+49 30 1234567',
    '1732160000000',
  ])('leaves %j alone', (text) => expect(maskCardNumbers(text)).toBe(text));

  it.each([13, 14, 15, 16, 17, 18, 19])('hides all but ten of %i digits', (length) => {
    const pan = withCheckDigit('5'.padEnd(length - 1, '1'));
    expect(maskCardNumbers(`a ${pan}.`)).toBe(`a ${pan.slice(0, 6)}${'*'.repeat(length - 10)}${pan.slice(-4)}.`);
  });

  it('keeps lengths, and hides separate card numbers in any format', () => {
    const pan = fc
      .tuple(
        fc.constantFrom('4', '51', '2221', '34', '6011', '3528', '36', '50', '62'),
        fc.integer({ min: 13, max: 19 }),
      )
      .chain(([prefix, length]) =>
        fc
          .string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })
          .map((digits) => withCheckDigit((prefix + digits).slice(0, length - 1))),
      );
    const written = pan.chain((digits) =>
      fc
        .array(fc.constantFrom('', '', ' ', '-', '\u00a0', '.', '_', '/', '  ', ' - '.trim(), '\u2011'), {
          minLength: digits.length - 1,
          maxLength: digits.length - 1,
        })
        .map((joints) => ({ digits, text: [...digits].map((digit, i) => digit + (joints[i] ?? '')).join('') })),
    );
    const around = fc.constantFrom('', ' ', 'a', 'No. 5 ', '12-', ' 7', '😀', ', ');
    fc.assert(
      fc.property(around, written, around, (before, { digits, text }, after) => {
        fc.pre(!/\d$/.test(before) && !/^\d/.test(after));
        const masked = maskCardNumbers(before + text + after);
        expect(masked).toHaveLength(before.length + text.length + after.length);
        expect(masked.replace(/[^\d*]/g, '')).not.toContain(digits);
      }),
      { numRuns: 2000 },
    );
  });
});
