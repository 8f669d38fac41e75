export * from './access';
export type {
  Account,
  AccountCredentials,
  AccountSettings,
  AccountTransactionType,
  AmountLimit,
  PayoutFee,
  PayoutRule,
  PayoutRuleKind,
  Terminal,
} from './account';
export { ACCOUNT_TRANSACTION_TYPES } from './account';
export { DEFAULT_NUMBER_LIMITS, numberLimitsOf, shownParameters } from './card-numbers';
export type { CardRule, CardRuleKind, CardRules, CardRuleSubject } from './card-rules';
export { cardRulesFor, DEFAULT_CARD_RULES } from './card-rules';
export type { AccountState, StateAction } from './account-state';
export { ACCOUNT_STATES } from './account-state';
export type { AcquirerName } from './acquirers';
export { ACQUIRERS, SANDBOX_ACQUIRER } from './acquirers';
export type { AccountAdministration, CreatedAccount, NewAccount } from './administration';
export type { AccountChanges, PayoutRulesByKind } from './account-changes';
export type { NewTerminal } from './terminals';
export { AccountError } from './account-error';
export { displayNameOf } from './display-name';
export type { CredentialAttempt, CredentialCheck, CredentialVerdict } from './credentials';
export { createCredentialCheck } from './credentials';
export type { AccountDirectory, AccountDirectoryOptions } from './directory';
export { createAccountDirectory } from './directory';
export type {
  AccountStorage,
  OpenAccountDirectory,
  OpenAccounts,
  OpenAccountsOptions,
  OpenLogins,
  OpenSigning,
} from './open-accounts';
export { ensureAccountIndexes, openAccountDirectory, openAccounts, openLogins, openSigning } from './open-accounts';
export type { WaitingKind } from './follow-clocks';
export { createClockFollower } from './follow-clocks';
export type { PasswordHasher } from './passwords';
export { createPasswordHasher } from './passwords';
export type { RateDecision, RateLimiter } from './rate-limit';
export { createRateLimiter } from './rate-limit';
export { DEMO_WEBHOOK_SECRET, SANDBOX_PAYOUTS, seedDemoAccounts } from './demo-accounts';
export type { ClockFollower, ClockRecord, FollowedClock, KeptRequest, SandboxClocks } from './sandbox-clocks';
export { allHaveFollowed, CLOCK_FOLLOWERS, CLOCKS, createSandboxClocks, moveOf, refusalOfMove } from './sandbox-clocks';
export { seedDemo } from './seed-demo';
export { mayPayOut, PAYOUT_CURRENCIES, payoutCurrenciesOf } from './payout-permission';
export { accountsProductionRules, accountsSettings, loginSettings, signingSettings } from './settings';
export type { SigningSecrets } from './signing';
