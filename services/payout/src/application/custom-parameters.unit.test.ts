import { customValues } from './custom-parameters';

const payout = { feeE4: 12_500, currency: 'EUR' };

it('a bank’s remark is cut at 200 whole characters', () => {
  const reasonDescription = `${'x'.repeat(199)}😀 and more`;
  expect(customValues({ ...payout, bankFacts: { reasonDescription } })).toMatchObject({
    custom_bank_reason_description: `${'x'.repeat(199)}😀`,
  });
});

it('the fee is known in EUR only, and bank parameters only after an answer', () => {
  expect(customValues(payout)).toEqual({ custom_fee_eur: '1.25' });
  expect(customValues({ ...payout, currency: 'XTS' }).custom_fee_eur).toBeUndefined();
});
