import { TEST_CURRENCY } from '@gateway/contracts';

export const CARD_RULE_KINDS = ['declines', 'attempts'] as const;
export type CardRuleKind = (typeof CARD_RULE_KINDS)[number];

/** What attempts have in common. `ip` is an IPv4 address or an IPv6 /64, `bin` the first six digits. */
export const CARD_RULE_SUBJECTS = ['ip', 'card', 'bin', 'email', 'account'] as const;
export type CardRuleSubject = (typeof CARD_RULE_SUBJECTS)[number];

/**
 * A velocity rule: at most `max` within `windowSeconds` for each subject of the account. `attempts` counts every AUTH,
 * AUTH3D, SALE and SALE3D, `declines` those that were declined, less those that cards which paid make up for; attempts
 * under way have a bound of their own (ADR 0048).
 */
export interface CardRule {
  readonly kind: CardRuleKind;
  readonly by: CardRuleSubject;
  readonly max: number;
  readonly windowSeconds: number;
}

const HOUR_SECONDS = 60 * 60;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/**
 * For accounts without rules of their own, in all currencies but XTS. Only declines: a shop has many more cards that pay,
 * however many buyers share an address, a card tester does not (ADR 0048).
 */
export const DEFAULT_CARD_RULES: readonly CardRule[] = [
  { kind: 'declines', by: 'ip', max: 20, windowSeconds: HOUR_SECONDS },
  { kind: 'declines', by: 'card', max: 10, windowSeconds: DAY_SECONDS },
  { kind: 'declines', by: 'email', max: 20, windowSeconds: DAY_SECONDS },
];

/** Rules of the named kinds; an empty list removes a kind, `default` restores its {@link DEFAULT_CARD_RULES}. */
export type CardRulesByKind = Partial<Record<CardRuleKind, readonly CardRule[] | 'default'>>;

/** The rules with those of the named kinds replaced. */
export function withCardRules(rules: readonly CardRule[], byKind: CardRulesByKind): CardRule[] {
  return CARD_RULE_KINDS.flatMap((kind) => {
    const given = byKind[kind] ?? rules;
    return (given === 'default' ? DEFAULT_CARD_RULES : given).filter((rule) => rule.kind === kind);
  });
}

/** An account's velocity rules, as far as it has any of its own. */
export interface CardRules {
  /** For all currencies but XTS, counted together; if absent, {@link DEFAULT_CARD_RULES}. */
  readonly cardRules?: readonly CardRule[] | undefined;
  /** For XTS; if absent, none. */
  readonly testCardRules?: readonly CardRule[] | undefined;
}

/** The velocity rules for attempts in a currency. */
export function cardRulesFor({ cardRules, testCardRules }: CardRules, currency: string): readonly CardRule[] {
  return currency === TEST_CURRENCY ? (testCardRules ?? []) : (cardRules ?? DEFAULT_CARD_RULES);
}

/** Lists the fields. A rule that only a later release knows stays in the list, and nothing passes it. */
export function toCardRule({ kind, by, max, windowSeconds }: CardRule): CardRule {
  return { kind, by, max, windowSeconds };
}
