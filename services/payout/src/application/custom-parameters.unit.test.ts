import { customParameters } from './custom-parameters';

const ofFacts = (bankFacts: Parameters<typeof customParameters>[1]['bankFacts'] & object) =>
  customParameters(['custom_bank_reason_description', 'custom_bank_reason_code', 'custom_bank_id'], {
    bankFacts,
    feeE4: 0,
    currency: 'EUR',
  });

it('what a bank remarks is cut at 200 characters, whole ones', () => {
  expect(ofFacts({ reasonDescription: `${'x'.repeat(199)}😀 and more` })).toEqual({
    custom_bank_reason_description: `${'x'.repeat(199)}😀`,
  });
});

it('what is outside its rule is left out, and nothing activated is nothing', () => {
  expect(ofFacts({ reasonCode: 'x'.repeat(46), id: 'x' })).toBeUndefined();
  expect(ofFacts({ reasonDescription: '', reasonCode: 'AC04' })).toEqual({ custom_bank_reason_code: 'AC04' });
  expect(customParameters([], { feeE4: 0, currency: 'EUR' })).toBeUndefined();
});
