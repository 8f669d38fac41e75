import type { ResponseCode } from './response-codes';

/** A rule of an account that refuses. `reason` is for operators: no name, number or address. */
export interface Hit<Kind extends string = string> {
  /** What the merchant gets. */
  code: ResponseCode;
  rule: Kind;
  reason: string;
}

/** How the rules of one kind decide. Pure. */
export interface RuleKind<Rule, Facts> {
  readonly code: ResponseCode;
  /** Why the rule refuses; undefined if it does not. */
  reason(rule: Rule, facts: Facts): string | undefined;
}

export interface Screen<Rule extends { readonly kind: string }, Facts> {
  /** Rules of unknown kinds come first, so that `hit` throws before anything passes. */
  inOrder<Some extends Rule>(rules: readonly Some[]): Some[];
  /** @throws Error for a rule of an unknown kind: nothing may pass because its rule was not understood. */
  hit(rule: Rule, facts: Facts): Hit<Rule['kind']> | undefined;
}

/**
 * Applies rules that operators set for an account, to payouts and to cards. `kinds` has them in the order in which they
 * are applied: the first hit decides. `subject` is for messages.
 */
export function createScreen<Rule extends { readonly kind: string }, Facts>(
  subject: string,
  kinds: { readonly [Kind in Rule['kind']]: RuleKind<Extract<Rule, { readonly kind: Kind }>, Facts> },
): Screen<Rule, Facts> {
  const known = new Map<string, RuleKind<Rule, Facts>>(Object.entries(kinds));
  const order = [...known.keys()];
  return {
    inOrder: (rules) => rules.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind)),
    hit(rule, facts) {
      const kind = known.get(rule.kind);
      if (kind === undefined) throw new Error(`${subject} rule ${rule.kind} is unknown`);
      const reason = kind.reason(rule, facts);
      return reason === undefined ? undefined : { code: kind.code, rule: rule.kind, reason };
    },
  };
}
