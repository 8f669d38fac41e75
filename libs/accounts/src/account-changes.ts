import { canonicalRange } from '@gateway/service-kit';
import type { TransactionType } from '@gateway/contracts';
import type { Account, AccountSettings, PayoutRule, PayoutRuleKind } from './account';
import { AccountError } from './account-error';
import type { AccountDocument } from './account-model';
import { toAccount } from './account-record';
import type { CardRules, CardRulesByKind } from './card-rules';
import { DEFAULT_CARD_RULES, withCardRules } from './card-rules';
import { payoutProblem } from './payout-permission';
import type { TerminalChanges, Terminals } from './terminals';

/** Rules of the named kinds; an empty list removes a kind. */
export type PayoutRulesByKind = Partial<Record<PayoutRuleKind, readonly PayoutRule[]>>;

/** Each list replaces the previous one. */
export interface AccountChanges extends Partial<Omit<AccountSettings, 'transactionTypes'>>, TerminalChanges {
  /** Replaces the enabled card transactions. */
  transactionTypes?: readonly TransactionType[];
  /** Turns payouts on or off. On needs a daily amount and, in EUR, a debtor. */
  payouts?: boolean;
  /** Replaces the rules of these kinds and keeps all others. */
  payoutRulesByKind?: PayoutRulesByKind;
  /** The same for velocity rules in real currencies, and in XTS. */
  cardRulesByKind?: CardRulesByKind;
  testCardRulesByKind?: CardRulesByKind;
}

/** Applies the changes to a document, without saving it. Throws {@link AccountError}. */
export function applyChanges(document: AccountDocument, changes: AccountChanges, terminals: Terminals): void {
  const { addTerminals, activateTerminals, deactivateTerminals, removeTerminals, ...others } = changes;
  const ofTerminals = { addTerminals, activateTerminals, deactivateTerminals, removeTerminals };
  const { payoutRulesByKind, cardRulesByKind, testCardRulesByKind, ...rest } = others;
  const { payouts, transactionTypes, ...settings } = rest;
  document.set(canonical(settings));
  const account = toAccount(document.toObject());
  if (payoutRulesByKind !== undefined) document.set(canonical(replacedRules(account, payoutRulesByKind)));
  document.set(replacedCardRules(account, cardRulesByKind, testCardRulesByKind));
  if (transactionTypes !== undefined || payouts !== undefined) {
    document.set({ transactionTypes: changedTypes(account, transactionTypes, payouts) });
  }
  if (changesPayouts(changes)) requirePayoutSettings(document);
  document.set({ terminals: terminals.change(document._id, account.terminals, ofTerminals) });
}

/** PAYOUT is switched by itself, so that a list of card transactions never turns payouts on. */
function changedTypes(
  { transactionTypes: before }: Account,
  given: readonly TransactionType[] | undefined,
  payouts = before.includes('PAYOUT'),
): Account['transactionTypes'] {
  const types = given ?? before.filter((type) => type !== 'PAYOUT');
  return payouts ? [...types, 'PAYOUT'] : types;
}

/** Other changes must not fail because of an account from before payouts needed these settings. */
function changesPayouts({ payouts, payoutRulesByKind, payoutRules, payoutDebtor }: AccountChanges): boolean {
  return [payouts, payoutRulesByKind?.['daily-amount'], payoutRules, payoutDebtor].some((one) => one !== undefined);
}

export function requirePayoutSettings(document: AccountDocument): void {
  const problem = payoutProblem(document.toObject());
  if (problem !== undefined) throw new AccountError('invalid', `Account "${document._id}": ${problem}.`);
}

/** Settings as they are stored. */
export function canonical(settings: Partial<AccountSettings>): Partial<AccountSettings> {
  const { displayName, ipAllowlist, returnHosts, payoutRules, payoutDebtor, ...others } = settings;
  return {
    ...others,
    // The account's name again if it is undefined.
    ...('displayName' in settings ? { displayName: displayName?.normalize('NFC') } : {}),
    // Leaves values without a canonical form as they are; the schema refuses them by name.
    ...(ipAllowlist === undefined ? {} : { ipAllowlist: ipAllowlist.map((range) => canonicalRange(range) ?? range) }),
    ...(returnHosts === undefined ? {} : { returnHosts: returnHosts.map((host) => host.toLowerCase()) }),
    ...(payoutRules === undefined ? {} : { payoutRules: payoutRules.map(canonicalRule) }),
    ...(payoutDebtor === undefined ? {} : { payoutDebtor: electronic(payoutDebtor) }),
  };
}

/** Countries and IBANs as payouts contain them: upper case, without spaces, each once. */
function canonicalRule(rule: PayoutRule): PayoutRule {
  const unique = (codes: readonly string[]) => [...new Set(codes.map(electronic))];
  if (rule.kind === 'blocked-countries') return { ...rule, countries: unique(rule.countries) };
  if (rule.kind === 'blocked-ibans') return { ...rule, ibans: unique(rule.ibans) };
  return rule;
}

function electronic(code: string): string {
  return code.replace(/\s/g, '').toUpperCase();
}

function replacedRules(account: Account, byKind: PayoutRulesByKind): Pick<AccountSettings, 'payoutRules'> {
  const kept = (account.payoutRules ?? []).filter(({ kind }) => byKind[kind] === undefined);
  return { payoutRules: [...kept, ...Object.values(byKind).flat()] };
}

function replacedCardRules(
  account: Account,
  real: CardRulesByKind | undefined,
  test: CardRulesByKind | undefined,
): CardRules {
  return {
    ...(real && { cardRules: withCardRules(account.cardRules ?? DEFAULT_CARD_RULES, real) }),
    ...(test && { testCardRules: withCardRules(account.testCardRules ?? [], test) }),
  };
}
