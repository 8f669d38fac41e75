import { Secret } from '@gateway/contracts';
import { writerKey } from './card-token';
import { createOpener, createSealer } from './hpke';
import type { Sealed } from './key-ring';
import type { Keys } from './keys';
import { UnknownKeyError } from './keys';

/** Sealed for callback-dispatcher, as cards are for card-processing. */
export interface SealedSecret extends Sealed {
  /** Of ACCOUNT_KEYS: who holds that key sealed it. */
  readonly writerKeyId: string;
}

/** Seals secrets that sign callbacks, and cannot open them. */
export interface SecretSealer {
  /** Of SIGNING_PUBLIC_KEY. */
  readonly keyId: string;
  readonly writerKeyId: string;
  /** `aad` names what the secret belongs to, and must be the same when it is opened. */
  seal(secret: Secret, aad: string): Promise<SealedSecret>;
}

export interface SecretOpener {
  /** Throws UnknownKeyError or DecryptionError. */
  open(sealed: SealedSecret, aad: string): Promise<Secret>;
}

/** `writerKeys` prove that a sealed secret comes from the gateway: without one, write access to the database forges none. */
export function createSecretSealer(publicKeys: Keys, writerKeys: Keys): SecretSealer {
  const sealer = createSealer(publicKeys.active, 'signing');
  const psk = writerKey(writerKeys.active);
  return {
    keyId: sealer.keyId,
    writerKeyId: psk.id,
    async seal(secret, aad) {
      return { ...(await sealer.seal(secret.expose(), aad, psk)), writerKeyId: psk.id };
    },
  };
}

export function createSecretOpener(privateKeys: Keys, writerKeys: Keys): SecretOpener {
  const opener = createOpener(privateKeys, 'signing');
  const psks = new Map(writerKeys.all.map((key) => [key.id, writerKey(key)]));
  return {
    async open(sealed, aad) {
      const psk = psks.get(sealed.writerKeyId);
      if (psk === undefined) throw new UnknownKeyError(writerKeys.setting, sealed.writerKeyId);
      return new Secret((await opener.open(sealed, aad, psk)).toString('utf8'));
    },
  };
}
