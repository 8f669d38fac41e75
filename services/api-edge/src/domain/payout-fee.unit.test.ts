import fc from 'fast-check';
import { payoutFeeE4 } from './payout-fee';

const ONE_PERCENT = 10_000;

test.each([
  ['nothing', { fixedE4: 0, percentE4: 0 }, 1_000_000, 0],
  ['0.50 and 1 % of 100', { fixedE4: 5_000, percentE4: ONE_PERCENT }, 1_000_000, 15_000],
  ['1 % of 0.0049: below half', { fixedE4: 0, percentE4: ONE_PERCENT }, 49, 0],
  ['1 % of 0.0050: half', { fixedE4: 0, percentE4: ONE_PERCENT }, 50, 1],
  ['1 % of 0.0051', { fixedE4: 0, percentE4: ONE_PERCENT }, 51, 1],
  ['0.0001 % of all', { fixedE4: 0, percentE4: 1 }, 99_999_999_999, 100_000],
  ['100 % of all', { fixedE4: 1, percentE4: 1_000_000 }, 99_999_999_999, 100_000_000_000],
  ['99.9999 % of all', { fixedE4: 0, percentE4: 999_999 }, 99_999_999_999, 99_999_899_999],
])('%s', (_, terms, amountE4, fee) => expect(payoutFeeE4(terms, amountE4, 'XTS')).toBe(fee));

test.each([
  [333_300, 8_300],
  [1_234_500, 17_300],
  [1_000_000, 15_000],
])('in EUR it is whole cents: of %i it is %i', (amountE4, fee) => {
  expect(payoutFeeE4({ fixedE4: 5_000, percentE4: ONE_PERCENT }, amountE4, 'EUR')).toBe(fee);
});

test('the fee is the exact one, half up', () => {
  const drawn = fc.tuple(fc.integer({ min: 0, max: 99_999_999_999 }), fc.integer({ min: 0, max: 1_000_000 }));
  fc.assert(
    fc.property(drawn, fc.nat(1_000_000), ([amountE4, percentE4], fixedE4) => {
      const share = BigInt(payoutFeeE4({ fixedE4, percentE4 }, amountE4, 'XTS') - fixedE4) * 1_000_000n;
      const error = BigInt(amountE4) * BigInt(percentE4) - share;
      expect(error >= -500_000n && error < 500_000n).toBe(true);
    }),
  );
});
