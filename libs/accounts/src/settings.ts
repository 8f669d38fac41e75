import { accountKeySettings, noDevelopmentKeys, signingReaderSettings, signingWriterSettings } from '@gateway/vault';

/** Settings of services that check passwords; they spread them into their own. */
export const loginSettings = accountKeySettings;
/** Of callback-dispatcher. */
export const signingSettings = signingReaderSettings;
/** Of command lines that make and change accounts. */
export const accountsSettings = signingWriterSettings;

/** Of everything that holds these settings. */
export const accountsProductionRules = [noDevelopmentKeys];
