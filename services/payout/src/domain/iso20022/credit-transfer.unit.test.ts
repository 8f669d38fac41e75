import fc from 'fast-check';
import type { TransferOrder } from './credit-transfer';
import { creditTransferOf } from './credit-transfer';
import { euroText } from './euro';
import { hasRightCheckDigits, isSepaIban, MAX_AMOUNT_E4 } from '@gateway/contracts';

const order = (change: Partial<TransferOrder> = {}): TransferOrder => ({
  amountE4: 310_100,
  currency: 'EUR',
  receiver: { iban: 'DE89370400440532013000', name: 'Jörg Weiß', address: {} },
  description: 'Rückzahlung #7',
  ...change,
});
const to = (change: Partial<TransferOrder['receiver']>) => order({ receiver: { ...order().receiver, ...change } });

describe('a payout as a SEPA credit transfer', () => {
  it('carries amount, IBAN, and texts in SEPA’s characters', () => {
    expect(creditTransferOf(order())).toEqual({
      transfer: { amountE4: 310_100, iban: 'DE89370400440532013000', name: 'Jorg Weis', remittance: 'Ruckzahlung .7' },
    });
  });

  it.each([
    ['another currency', order({ currency: 'XTS' }), /EUR/],
    ['nothing', order({ amountE4: 0 }), /amount/],
    ['less than nothing', order({ amountE4: -100 }), /amount/],
    ['less than a cent', order({ amountE4: 99 }), /cent/],
    ['a part of a cent', order({ amountE4: 310_150 }), /cent/],
    ['wrong check digits', to({ iban: 'DE88370400440532013000' }), /check digits/],
    ['blanks in the IBAN', to({ iban: 'DE89 3704 0044 0532 0130 00' }), /check digits/],
    ['a country outside the scheme', to({ iban: 'TR330006100519786457841326' }), /TR is not in/],
    ['a name without a letter', to({ name: '李四' }), /name/],
  ])('refuses %s', (_what, refused, why) => {
    expect(creditTransferOf(refused)).toEqual({ refusal: expect.stringMatching(why) });
  });

  it('takes the largest amount of a payout', () => {
    expect(creditTransferOf(order({ amountE4: MAX_AMOUNT_E4 - (MAX_AMOUNT_E4 % 100) }))).toHaveProperty('transfer');
  });

  it('cuts the name at 70 and the description at 140 characters, after transliteration', () => {
    const checked = creditTransferOf({ ...to({ name: 'щ'.repeat(70) }), description: `${'x'.repeat(139)} yz` });
    expect(checked).toEqual({
      transfer: expect.objectContaining({ name: 'sht'.repeat(24).slice(0, 70), remittance: 'x'.repeat(139) }),
    });
  });

  it('leaves out a description that ends up empty', () => {
    expect(creditTransferOf(order({ description: '/ /' }))).not.toHaveProperty('transfer.remittance');
  });

  const address = {
    street: 'Königsstraße',
    buildingNumber: '5 a',
    apartment: 'Top 3',
    zip: '10115',
    city: 'Köln',
    country: 'DEU',
  };

  it('has a structured address if town and country are known', () => {
    expect(creditTransferOf(to({ address }))).toHaveProperty('transfer.address', {
      streetName: 'Konigsstrase',
      buildingNumber: '5 a',
      room: 'Top 3',
      postCode: '10115',
      townName: 'Koln',
      country: 'DE',
    });
    expect(creditTransferOf(to({ address: { city: 'Wien', country: 'AUT' } }))).toHaveProperty('transfer.address', {
      townName: 'Wien',
      country: 'AT',
    });
  });

  it.each([
    ['no town', { ...address, city: '' }],
    ['a town that ends up empty', { ...address, city: '//' }],
    ['no country', { street: 'A', city: 'Wien' }],
    ['a country that is none', { ...address, country: 'XXX' }],
    ['the unstructured one only', { unstructured: 'Königsstraße 5, 10115 Berlin' }],
  ])('has no address at all with %s', (_what, given) => {
    expect(creditTransferOf(to({ address: given }))).not.toHaveProperty('transfer.address');
  });
});

describe('amounts as text', () => {
  it.each([
    [100, '0.01'],
    [1_000, '0.10'],
    [310_100, '31.01'],
    [10_000, '1.00'],
    [9_999_999_999_900, '999999999.99'],
    [999_999_999_990_000, '99999999999.00'],
  ])('%d is %s', (amountE4, text) => expect(euroText(amountE4)).toBe(text));

  it('are exact to the cent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (cents) => {
        const text = euroText(cents * 100);
        expect(text).toMatch(/^\d+\.\d{2}$/);
        expect(BigInt(text.replace('.', ''))).toBe(BigInt(cents));
      }),
    );
  });

  it.each([1, 150, -100, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])('%d is none', (amountE4) => {
    expect(() => euroText(amountE4)).toThrow('whole number of cents');
  });
});

describe('an IBAN', () => {
  it.each(['DE', 'GI', 'AL', 'ME', 'MD', 'MK', 'RS', 'CH', 'GB'])('of %s is in the scheme', (country) => {
    expect(isSepaIban(`${country}00`)).toBe(true);
  });
  it.each(['XK', 'TR', 'UA', 'US'])('of %s is not', (country) => expect(isSepaIban(`${country}00`)).toBe(false));
  it.each(['GB82WEST12345698765432', 'MT84MALT011000012345MTLCAST001S', 'NO9386011117947'])('%s is right', (iban) => {
    expect(hasRightCheckDigits(iban)).toBe(true);
  });
  it('with two digits exchanged is wrong', () => expect(hasRightCheckDigits('NO9386011117974')).toBe(false));
});
