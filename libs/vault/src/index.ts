export type { CardData } from './card-data';
export type { CardNumbers, CardOwner, NumberLimits, OverLimit, StoredNumber } from './card-numbers';
export { createCardNumbers, ensureNumberIndexes } from './card-numbers';
export type { CardReader } from './card-reader';
export type { StoredCard } from './card-records';
export { ensureCardIndexes } from './card-records';
export type { CardWriter, PutCard } from './card-writer';
export type { CvvKeyIssuer, CvvKeyStore } from './cvv-keys';
export { CVV_KEY_WAIT_MS } from './cvv-keys';
export type { CvvReader, CvvWriter, StoredCvv } from './cvvs';
export { ensureCvvIndexes } from './cvvs';
export { newKey, newKeyPair, newVaultKeys } from './generate-keys';
export type { Verifier } from './verifier';
export { createVerifier, isSameVerifier } from './verifier';
export type { KeyRing, Sealed } from './key-ring';
export { createKeyRing, DecryptionError } from './key-ring';
export type { KeyProviderConfig } from './key-provider';
export type { Keys } from './keys';
export { heldKeysOf } from './held-keys';
export { PUBLIC_HALF, readKeys, UnknownKeyError } from './keys';
export type { SealedSecret, SecretOpener, SecretSealer } from './secret-seal';
export { createSecretOpener, createSecretSealer } from './secret-seal';
export type { CountingHashes, OpenVault, VaultReader, VaultStorage, VaultWriter } from './open-vault';
export { ensureVaultIndexes, openCardReader, openVaultReader, openVaultWriter } from './open-vault';
export {
  accountKeySettings,
  cardReaderSettings,
  noDevelopmentKeys,
  signingReaderSettings,
  signingWriterSettings,
  vaultReaderSettings,
  vaultWriterSettings,
} from './settings';
