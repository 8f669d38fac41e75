import { customValues } from './custom-parameters';

const payout = { feeE4: 12_500, currency: 'EUR' };

it('what a bank remarks is cut at 200 characters, whole ones', () => {
  const reasonDescription = `${'x'.repeat(199)}😀 and more`;
  expect(customValues({ ...payout, bankFacts: { reasonDescription } })).toMatchObject({
    custom_bank_reason_description: `${'x'.repeat(199)}😀`,
  });
});

it('the fee is known in EUR only, and of a bank nothing before it has answered', () => {
  expect(customValues(payout)).toEqual({ custom_fee_eur: '1.25' });
  expect(customValues({ ...payout, currency: 'XTS' }).custom_fee_eur).toBeUndefined();
});
