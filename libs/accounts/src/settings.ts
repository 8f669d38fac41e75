import { accountKeySettings, noDevelopmentKeys } from '@gateway/vault';

/** Settings of services that check passwords or sign callbacks; they spread them into their own. */
export const accountsSettings = accountKeySettings;

/** Of everything that holds these settings. */
export const accountsProductionRules = [noDevelopmentKeys];
