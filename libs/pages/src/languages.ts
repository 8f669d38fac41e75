import type { RawText } from '@gateway/contracts';

/** The languages that pages are written in, the default first. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'lt'] as const;
export type Language = (typeof LANGUAGES)[number];

const DEFAULT: Language = 'en';
/** A browser sends about a hundred characters; whoever sends more gets the default. */
const LENGTH_MAX = 1_000;
/** One element of the header: the language, any further subtags, and its weight (RFC 9110, 12.4.2). */
const RANGE = /^([a-z]{1,8})(?:-[a-z\d]{1,8})*(?:[\t ]*;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * The language of a page for an `Accept-Language` header: RFC 4647's lookup, which finds `de` for `de-AT`, in the order
 * of the weights. English if nothing matches. Elements that are malformed are skipped, and so is `*`.
 */
export function languageFor(acceptLanguage: RawText | undefined): Language {
  const given = acceptLanguage?.within(LENGTH_MAX) ?? '';
  const accepted = given.split(',').flatMap((element) => {
    const [, tag = '', weight = '1'] = RANGE.exec(element.trim()) ?? [];
    const language = LANGUAGES.find((known) => known === tag.toLowerCase());
    return language === undefined || Number(weight) === 0 ? [] : [{ language, weight: Number(weight) }];
  });
  return accepted.sort((a, b) => b.weight - a.weight)[0]?.language ?? DEFAULT;
}
