export type { CardData } from './card-data';
export type { CardVault, CardVaultOptions, StoredCard, StoredCvv } from './card-vault';
export { createCardVault } from './card-vault';
export type { KeyRing, Sealed } from './key-ring';
export { DecryptionError, parseKeyRing, UnknownKeyError } from './key-ring';
export type { OpenVault, OpenVaultOptions } from './open-vault';
export { openVault } from './open-vault';
export { noDevelopmentKeys, vaultSettings } from './settings';
