import type { RawText } from '@gateway/contracts';
import { displayedAmount } from './amounts';
import type { Language } from './languages';
import { languageFor, LANGUAGES } from './languages';
import type { Texts } from './texts';
import { TEXTS } from './texts';

/** A language with everything that pages say in it. */
export interface Locale {
  readonly language: Language;
  readonly texts: Texts;
  /** `amountE4` in 1/10000 of `currency`, ISO 4217 alpha-3. */
  amount(amountE4: number, currency: string): string;
}

const LOCALES = Object.fromEntries(
  LANGUAGES.map((language) => [
    language,
    {
      language,
      texts: TEXTS[language],
      amount: (amountE4: number, currency: string) => displayedAmount(language, amountE4, currency),
    },
  ]),
) as Readonly<Record<Language, Locale>>;

/** For the value of an `Accept-Language` header. */
export function localeFor(acceptLanguage: RawText | undefined): Locale {
  return LOCALES[languageFor(acceptLanguage)];
}
