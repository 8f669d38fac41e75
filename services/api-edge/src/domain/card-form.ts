import { isTestCard, RawText, Secret, maskCardNumbers } from '@gateway/contracts';
import type { RawFields, RawValue } from './body';
import { boundedText, isAbsent } from './body';
import type { FullCard } from './card-request';
import * as rule from './field-rules';
import type { FieldReader } from './field-table';
import { showsCardNumber } from './own-card-number';

/** The fields of the card-entry form, under its names, in its order. */
export const CARD_FORM_FIELDS = ['card_number', 'card_exp', 'cvv', 'card_holder'] as const;
export type CardFormField = (typeof CARD_FORM_FIELDS)[number];

export interface CardFormProblem {
  readonly field: CardFormField;
  readonly kind: 'missing' | 'invalid';
}

/** Values that the form may show again: never a card number or CVV, in whatever field they were typed. */
export interface KeptValues {
  readonly cardExp: string;
  readonly cardHolder: string;
  /** The card number was a right one, and no test card's: on a page of the test currency it may be a real card. */
  readonly fromOtherCard: boolean;
}

export type CardForm =
  | { readonly ok: true; readonly card: FullCard }
  | { readonly ok: false; readonly problems: readonly CardFormProblem[]; readonly kept: KeptValues };

/** Separators that people and browsers put into a card number. */
const SEPARATORS = /[\s-]/g;
/** `MM / YY` or `MM/YYYY`, separated by a slash, a dash, a space or nothing. */
const EXPIRY = /^(?:(0?[1-9]|1[0-2])(?:\s*[/-]\s*|[^\S ]* \s*)|(0[1-9]|1[0-2]))(\d{2}|\d{4})$/;
/** Of what a field takes, with room for white space that is removed. Longer text is invalid. */
const TYPED_LENGTH_MAX = 128;
const CENTURY = '20';
/** Too short for a card number. */
const SHOWN_EXPIRY = /^[\d\s/-]{1,9}$/;
const SHOWN_HOLDER_LENGTH_MAX = 64;

const READERS: Readonly<Record<CardFormField, FieldReader>> = {
  card_number: rule.cardNumber.read,
  card_exp: (value) => yearAndMonth(boundedText(value, TYPED_LENGTH_MAX) ?? ''),
  cvv: rule.cvv.read,
  card_holder: rule.cardHolder.read,
};

type Typed = ReadonlyMap<CardFormField, RawValue | undefined>;

/** Checks the cardholder's input against the interface's rules for card data; all four fields are required. */
export function readCardForm(fields: RawFields): CardForm {
  const typed: Typed = new Map(CARD_FORM_FIELDS.map((name) => [name, tidied(name, fields.get(name))]));
  const found = new Map<CardFormField, string>();
  const problems: CardFormProblem[] = [];
  for (const field of CARD_FORM_FIELDS) {
    const value = typed.get(field);
    const read = isAbsent(value) || showsOwnNumber(field, typed) ? undefined : READERS[field](value, 0);
    if (typeof read === 'string') found.set(field, read);
    else problems.push({ field, kind: isAbsent(value) ? 'missing' : 'invalid' });
  }
  if (problems.length > 0) return { ok: false, problems, kept: keptValues(typed) };
  const [expYear = '', expMonth = ''] = (found.get('card_exp') ?? '').split('-');
  const card = { pan: found.get('card_number') ?? '', expMonth, expYear, holder: found.get('card_holder') ?? '' };
  return { ok: true, card: { kind: 'card', card: new Secret(card), cvv: new Secret(found.get('cvv') ?? '') } };
}

function tidied(name: CardFormField, value: RawValue | undefined): RawValue | undefined {
  const text = boundedText(value, TYPED_LENGTH_MAX);
  if (text === undefined) return value;
  return new RawText(name === 'card_number' || name === 'cvv' ? text.replace(SEPARATORS, '') : text.trim());
}

/** decisions.md, section 10. Only the holder's name can be that long. */
function showsOwnNumber(field: CardFormField, typed: Typed): boolean {
  if (field !== 'card_holder') return false;
  const cardNumber = cardNumberIn(typed);
  return cardNumber !== undefined && showsCardNumber(boundedText(typed.get(field), TYPED_LENGTH_MAX) ?? '', cardNumber);
}

function cardNumberIn(typed: Typed): string | undefined {
  const cardNumber = rule.cardNumber.read(typed.get('card_number') ?? null, 0);
  return typeof cardNumber === 'string' ? cardNumber : undefined;
}

/** `2030-01`. */
function yearAndMonth(text: string): string | undefined {
  const [, separated, joined, year = ''] = EXPIRY.exec(text) ?? [];
  const month = separated ?? joined;
  if (month === undefined) return undefined;
  return `${year.length === 2 ? CENTURY : ''}${year}-${month.padStart(2, '0')}`;
}

function keptValues(typed: Typed): KeptValues {
  const cardExp = boundedText(typed.get('card_exp'), TYPED_LENGTH_MAX) ?? '';
  const holder = boundedText(typed.get('card_holder'), TYPED_LENGTH_MAX) ?? '';
  const cardNumber = cardNumberIn(typed);
  return {
    fromOtherCard: cardNumber !== undefined && !isTestCard(cardNumber),
    cardExp: SHOWN_EXPIRY.test(cardExp) ? cardExp : '',
    cardHolder: showsOwnNumber('card_holder', typed) ? '' : maskCardNumbers(holder).slice(0, SHOWN_HOLDER_LENGTH_MAX),
  };
}
