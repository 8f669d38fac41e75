/**
 * IBAN prefixes of the countries of the SEPA schemes (EPC409-09 as of 2026): the scheme's 41 countries, of which
 * Albania, Moldova, Montenegro, North Macedonia (2025) and Serbia (2026) are the newest, and Gibraltar, which belongs
 * to the United Kingdom's membership. Territories have the IBANs of their country: Åland FI, Guadeloupe and others FR,
 * Jersey, Guernsey and the Isle of Man GB.
 */
const SEPA_COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS ' +
    'SE SI SK SM VA'
  ).split(' '),
);

/** True if SEPA reaches the country of this IBAN (electronic form). */
export function isSepaIban(iban: string): boolean {
  return SEPA_COUNTRIES.has(iban.slice(0, 2));
}

const CHECK_DIGITS_MODULUS = 97;

/**
 * True for an IBAN in electronic form with correct check digits (ISO 13616, ISO 7064 mod 97-10). Does not check the
 * structure of its country.
 */
export function hasRightCheckDigits(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % CHECK_DIGITS_MODULUS;
  }
  return remainder === 1;
}
