import { Schema } from 'mongoose';
import { hasRightCheckDigits, isCountryAlpha2, MAX_AMOUNT_E4 } from '@gateway/contracts';
import type { PayoutRule, PayoutRuleKind } from './account';
import { atMost, text, whole, withoutRepeats } from './field-types';
import { PAYOUT_CURRENCIES } from './payout-permission';
import { MAX_DAILY_AMOUNT_E4 } from './payout-rules';

const MAX_BLOCKED_IBANS = 1_000;
const MAX_DAILY_COUNT = 10_000_000;

/** A limit in another currency would have no effect. */
const currency = {
  ...text,
  enum: {
    values: [...PAYOUT_CURRENCIES],
    message: `{VALUE} is no currency of payouts (${PAYOUT_CURRENCIES.join(', ')})`,
  },
};
const amount = (maxE4: number) => ({ currency, maxE4: whole(0, maxE4) });
const countries = {
  // Receivers live anywhere. A value that is not a country is a typo, and its rule would never match.
  type: [
    {
      ...text,
      validate: { validator: isCountryAlpha2, message: '{VALUE} is no country (two letters, ISO 3166-1 alpha-2)' },
    },
  ],
};
const ibans = {
  type: [
    {
      ...text,
      validate: { validator: hasRightCheckDigits, message: '{VALUE} is not an IBAN, or has wrong check digits' },
    },
  ],
  validate: atMost(MAX_BLOCKED_IBANS, `an account blocks at most ${MAX_BLOCKED_IBANS} IBANs`),
};

/** Exhaustive, so that every kind is checked before it is stored. */
const FIELDS: Record<PayoutRuleKind, object> = {
  'daily-amount': amount(MAX_DAILY_AMOUNT_E4),
  'daily-count': { max: whole(1, MAX_DAILY_COUNT) },
  'blocked-countries': { countries },
  'blocked-ibans': { ibans },
  'first-time-receiver': amount(MAX_AMOUNT_E4),
};

const rule = new Schema<PayoutRule>({}, { _id: false, discriminatorKey: 'kind' });

/** The schema of an account's `payoutRules`. */
export const payoutRuleList = {
  type: [rule],
  validate: withoutRepeats(
    (one: PayoutRule) => ('currency' in one ? `${one.kind} ${one.currency}` : one.kind),
    'a payout rule is there more than once for the same currency',
  ),
};

/** Registers the fields of each kind of rule once the list is part of a schema. */
export function declareKinds(list: Schema.Types.DocumentArray): void {
  for (const [kind, fields] of Object.entries(FIELDS)) list.discriminator(kind, new Schema(fields, { _id: false }));
}
