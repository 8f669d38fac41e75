/**
 * Minor units of ISO 4217's current list one (as amended up to no. 180, January 2026: XCG in, ANG and BGN out). Codes
 * without a minor unit (metals, XDR, XXX, …) are missing, because no amount can be stated in them. XTS, the test
 * currency, has 4 here, so that every amount of the interface can be tested.
 */
const BY_MINOR_UNITS: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW ' +
    'CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF ' +
    'IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK ' +
    'MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP ' +
    'SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ' +
    'ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW XTS',
};

const minorUnits = new Map(
  Object.entries(BY_MINOR_UNITS).flatMap(([units, codes]) => codes.split(' ').map((code) => [code, Number(units)])),
);

export const TEST_CURRENCY = 'XTS';

export function isCurrency(code: string): boolean {
  return minorUnits.has(code);
}

/** True when the amount has no digits below the currency's minor unit (JPY 1.5 and EUR 0.001 are too fine). */
export function isWholeInMinorUnits(amountE4: number, currency: string): boolean {
  return isCurrency(currency) && amountE4 % minorUnitE4(currency) === 0;
}

/** The currency's smallest amount, in 1/10000 of it: 100 for EUR, 1 for XTS. Throws for an unknown currency. */
export function minorUnitE4(currency: string): number {
  const units = minorUnits.get(currency);
  if (units === undefined) throw new Error(`${currency} is not a currency`);
  return 10 ** (4 - units);
}
