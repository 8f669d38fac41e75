/** Who began the payment: the merchant alone, with the cardholder's earlier consent, or the cardholder. */
export type Initiator = 'CIT' | 'MIT';

/** How long an authorization of a scheme is held; of one initiator only, where it names one. */
export interface HoldRule {
  /** A card's brand in lower case, with hyphens: `visa`, `american-express`. */
  readonly scheme: string;
  readonly initiator?: Initiator;
  readonly seconds: number;
}

/**
 * Reads `visa:MIT=432000,mastercard=604800`; an empty text is no rule.
 *
 * @throws Error with one sentence when two rules are about the same.
 */
export function parseHolds(text: string): HoldRule[] {
  const rules = text.split(',').filter(Boolean).map(parseRule);
  const subjects = new Set(rules.map(({ scheme, initiator }) => `${scheme}:${initiator}`));
  if (subjects.size < rules.length) throw new Error('AUTH_HOLDS has two rules for the same cards.');
  return rules;
}

function parseRule(text: string): HoldRule {
  const [subject = '', seconds] = text.split('=');
  const [scheme = '', initiator] = subject.split(':');
  return {
    scheme,
    ...(initiator === undefined ? {} : { initiator: initiator as Initiator }),
    seconds: Number(seconds),
  };
}

/**
 * The hold of a card's scheme, in seconds: the rule that names its initiator too, else the one for the whole scheme.
 * Undefined where no rule speaks of it.
 *
 * @param asked.brand as shown: `American Express`
 */
export function holdOfScheme(
  rules: readonly HoldRule[],
  asked: { brand: string; cofType?: string | undefined },
): number | undefined {
  const scheme = asked.brand.toLowerCase().replaceAll(' ', '-');
  const initiator: Initiator = asked.cofType === 'MIT' ? 'MIT' : 'CIT';
  const ofScheme = rules.filter((rule) => rule.scheme === scheme);
  const rule =
    ofScheme.find((candidate) => candidate.initiator === initiator) ??
    ofScheme.find((candidate) => candidate.initiator === undefined);
  return rule?.seconds;
}
