import type { AccountSettings } from './account';
import type { AccountState } from './account-state';

export type RequestLimits = Pick<AccountSettings, 'rateLimitPerSecond' | 'maxConcurrentRequests'>;

/** decisions.md, section 10. */
const SANDBOX: RequestLimits = { rateLimitPerSecond: 100, maxConcurrentRequests: 32 };
const ACTIVE: RequestLimits = { rateLimitPerSecond: 1_000, maxConcurrentRequests: 1_000 };

/** The operator's setting, else the default of the account's state. So activating an account raises its limits. */
export function requestLimitsOf(account: { state: AccountState } & Partial<RequestLimits>): RequestLimits {
  const defaults = account.state === 'test' ? SANDBOX : ACTIVE;
  return {
    rateLimitPerSecond: account.rateLimitPerSecond ?? defaults.rateLimitPerSecond,
    maxConcurrentRequests: account.maxConcurrentRequests ?? defaults.maxConcurrentRequests,
  };
}
