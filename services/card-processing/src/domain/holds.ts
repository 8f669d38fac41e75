/** The initiator: the cardholder, or the merchant with the cardholder's earlier consent. */
export type Initiator = 'CIT' | 'MIT';

/** How long a scheme's authorizations are held, for one initiator or both. */
export interface HoldRule {
  /** A card's brand in lower case, with hyphens: `visa`, `american-express`. */
  readonly scheme: string;
  readonly initiator?: Initiator;
  readonly seconds: number;
}

/**
 * The hold of a card's scheme, in seconds: by the rule for its initiator, else by the rule for the whole scheme.
 * Undefined if no rule applies.
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

const HOUR_MS = 3_600_000;

/** Epoch ms from which the callback is due that the hold ends soon. In the past if the hold is shorter than that. */
export function expiringAt(endsAt: number, { hoursBefore }: { hoursBefore: number }): number {
  return endsAt - hoursBefore * HOUR_MS;
}
