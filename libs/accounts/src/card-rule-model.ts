import { Schema } from 'mongoose';
import type { CardRule } from './card-rules';
import { CARD_RULE_KINDS, CARD_RULE_SUBJECTS } from './card-rules';
import { atMost, text, whole, withoutRepeats } from './field-types';

const MAX_RULES = 20;
const MAX_COUNT = 1_000_000;
const MIN_WINDOW_SECONDS = 60;
const MAX_WINDOW_SECONDS = 31 * 24 * 60 * 60;

const rule = new Schema<CardRule>(
  {
    kind: { ...text, enum: { values: CARD_RULE_KINDS, message: '{VALUE} is no kind of rule for cards' } },
    by: { ...text, enum: { values: CARD_RULE_SUBJECTS, message: 'nothing is counted by {VALUE}' } },
    max: whole(1, MAX_COUNT),
    windowSeconds: whole(MIN_WINDOW_SECONDS, MAX_WINDOW_SECONDS),
  },
  { _id: false },
);

/** The schema of an account's `cardRules` and `testCardRules`. Absent is not the same as empty. */
export const cardRuleList = {
  type: [rule],
  default: undefined,
  validate: [
    atMost(MAX_RULES, `an account has at most ${MAX_RULES} rules for cards`),
    withoutRepeats(
      (one: CardRule) => `${one.kind} ${one.by} ${one.windowSeconds}`,
      'a rule for cards is there more than once for the same subject and time',
    ),
  ],
};
