/**
 * Countries of the SEPA schemes as IBANs begin (EPC409-09 as of 2026): the scheme's 41 countries, of which Albania,
 * Moldova, Montenegro, North Macedonia (2025) and Serbia (2026) are the newest, and Gibraltar, which comes with the
 * United Kingdom. Territories have the IBANs of their country: Åland FI, Guadeloupe and others FR, Jersey, Guernsey and
 * the Isle of Man GB.
 */
const IBAN_COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS ' +
    'SE SI SK SM VA'
  ).split(' '),
);

/** Whether SEPA reaches accounts whose IBAN (electronic form) begins like this one. */
export function isSepaIban(iban: string): boolean {
  return IBAN_COUNTRIES.has(iban.slice(0, 2));
}
