/**
 * Countries of the scheme by the code their IBANs begin with (EPC409-09 with AL, ME, MD, MK of 2025 and RS of 2026):
 * 41, and GI, which takes part with the United Kingdom under an IBAN of its own.
 */
const SCHEME_COUNTRIES = new Set(
  (
    'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO ' +
    'CH GB GI MC SM VA AD AL ME MD MK RS'
  ).split(' '),
);

/** Whether SEPA credit transfers reach this IBAN, by its country. */
export function isInScheme(iban: string): boolean {
  return SCHEME_COUNTRIES.has(iban.slice(0, 2));
}

const CHECK_DIGITS_MODULUS = 97;

/** Electronic form with right check digits (ISO 13616, ISO 7064 mod 97-10); not the structure of its country. */
export function hasRightCheckDigits(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % CHECK_DIGITS_MODULUS;
  }
  return remainder === 1;
}
