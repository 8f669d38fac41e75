import type { CustomParameter } from './custom-parameters';
import { activatedValues, CUSTOM_PARAMETERS } from './custom-parameters';

test('the parameters and their order match the interface', () => {
  expect(new Set(CUSTOM_PARAMETERS).size).toBe(51);
  expect(CUSTOM_PARAMETERS[0]).toBe('custom_bank_descriptor');
  expect(CUSTOM_PARAMETERS.at(-1)).toBe('custom_user_phone');
});

test('only activated, known parameters are shown; without any there is no field', () => {
  const known = { custom_bank_id: '7', custom_bank_name: 'Bank' };
  expect(activatedValues(['custom_bank_name', 'custom_mid_id'], known)).toEqual({ custom_bank_name: 'Bank' });
  expect(activatedValues([], known)).toBeUndefined();
  expect(activatedValues(['custom_mid_id'], known)).toBeUndefined();
});

test.each<[CustomParameter, string[], string[]]>([
  ['custom_bank_id', ['1', '1'.repeat(20)], ['', '1'.repeat(21), 'x', '1\n']],
  ['custom_bank_name', ['x', '😀'.repeat(32)], ['', 'x'.repeat(33)]],
  ['custom_card_bin', ['411111'], ['41111', '4111111']],
  ['custom_card_country_iso3', ['DEU'], ['DE', 'DEUT']],
  ['custom_chargeback_base_amount', ['10.00', '1,000000'], ['10', '10.', '1.0000000']],
  ['custom_fee_eur', ['0', '0.5', '12.3456'], ['', '.5', '1.23456', '-1']],
  ['custom_fraud_decision', ['accept', 'reject', 'manual'], ['', 'ACCEPT', 'accept ']],
  ['custom_mid_reference', ['MD0123456789ABCD'], ['MD0123456789ABC', 'md0123456789abcd', 'MD0123456789ABCDE']],
  ['custom_next_billing_date', ['20261121'], ['2026112']],
])('what breaks the rule of %s is left out', (name, right, wrong) => {
  for (const value of right) expect(activatedValues([name], { [name]: value })).toEqual({ [name]: value });
  for (const value of wrong) expect(activatedValues([name], { [name]: value })).toBeUndefined();
});
