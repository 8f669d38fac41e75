import { formatAmountE4, isCurrency } from '@gateway/contracts';
import type { Language } from './languages';

const DECIMALS_MAX = 4;

/**
 * An amount with its ISO 4217 code, as the language writes it: `1.234,50 EUR`. Has the currency's usual decimals, more
 * if the amount has more. Throws for an unknown currency.
 */
export function displayedAmount(language: Language, amountE4: number, currency: string): string {
  if (!isCurrency(currency)) throw new Error(`${currency} is not a currency`);
  const parts = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    // Symbols are ambiguous: $ is the dollar of several countries.
    currencyDisplay: 'code',
    maximumFractionDigits: DECIMALS_MAX,
  }).formatToParts(formatAmountE4(amountE4) as `${number}`);
  const written = (of: typeof parts): string => of.map(({ value }) => value).join('');
  if (language !== 'en') return written(parts);
  // Merchants' tests know the English pages by `10.00 XTS`, with the code last.
  return `${written(parts.filter(({ type }) => type !== 'currency' && type !== 'literal'))} ${currency}`;
}
