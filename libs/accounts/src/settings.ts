import { noDevelopmentKeys, vaultSettings } from '@gateway/vault';

/** Settings of services that open the accounts; they spread them into their own. */
export const accountsSettings = {
  /** Decrypts the passwords and payout secrets that sign callbacks. */
  VAULT_KEYS: vaultSettings.VAULT_KEYS,
};

/** Of everything that opens the accounts. */
export const accountsProductionRules = [noDevelopmentKeys];
