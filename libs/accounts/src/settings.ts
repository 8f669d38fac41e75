import { vaultSettings } from '@gateway/vault';

/** What a service that opens the accounts spreads into its own settings. */
export const accountsSettings = {
  /** Decrypts the passwords and payout secrets that sign callbacks. */
  VAULT_KEYS: vaultSettings.VAULT_KEYS,
};
