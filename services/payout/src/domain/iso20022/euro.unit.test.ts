import fc from 'fast-check';
import { euroText, saysEuros } from './euro';

const cents = fc.integer({ min: 0, max: 10_000_000_000_000 });
const zeros = fc.nat({ max: 20 }).map((count) => '0'.repeat(count));

describe('an amount in a decimal text', () => {
  it('is the same with more zeros, a sign and blanks', () => {
    fc.assert(
      fc.property(cents, zeros, zeros, fc.constantFrom('', '+'), (amount, before, after, sign) => {
        const amountE4 = amount * 100;
        expect(saysEuros(` ${sign}${before}${euroText(amountE4)}${after}\n`, amountE4)).toBe(true);
      }),
    );
  });

  it('is another one if a cent, or less, is between them', () => {
    fc.assert(
      fc.property(cents, zeros, (amount, before) => {
        const amountE4 = amount * 100;
        expect(saysEuros(euroText(amountE4 + 100), amountE4)).toBe(false);
        expect(saysEuros(`${euroText(amountE4)}${before}1`, amountE4)).toBe(false);
      }),
    );
  });

  it.each(['', '.', '-31.01', '3101', '31,01', '3.101E1', '31.01.', '31 .01', 'NaN'])('is not %j for 31.01', (text) => {
    expect(saysEuros(text, 310_100)).toBe(false);
  });

  it.each(['31.', '31', '031.0'])('is %j for 31.00', (text) => expect(saysEuros(text, 310_000)).toBe(true));
});
