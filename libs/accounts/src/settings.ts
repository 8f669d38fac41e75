import { vaultSettings } from '@gateway/vault';

/** What a service that opens the accounts spreads into its own settings. */
export const accountsSettings = {
  /** Opens the encrypted copies of passwords and payout secrets that callbacks are signed with. */
  VAULT_KEYS: vaultSettings.VAULT_KEYS,
};
