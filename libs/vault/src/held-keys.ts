import type { HeldKey, HeldKeys } from '@gateway/service-kit';
import { fingerprintOf } from '@gateway/service-kit';
import { publicKeyOf } from './hpke';
import type { Key, Keys } from './keys';
import { isPublicKey, PUBLIC_HALF } from './keys';

/**
 * For operators: which keys a process holds. Fingerprints are those of public keys alone: a secret key has none, so that
 * nobody can recognize it by one.
 */
export function heldKeysOf(keys: Readonly<Record<string, Keys>>): HeldKeys {
  return Object.fromEntries(
    Object.entries(keys).map(([setting, { all }]) => [setting, all.map((key) => heldKeyOf(setting, key))]),
  );
}

function heldKeyOf(setting: string, { id, key }: Key): HeldKey {
  if (isPublicKey(setting)) return { id, fingerprint: fingerprintOf(key.expose()) };
  if (setting in PUBLIC_HALF) return { id, fingerprint: fingerprintOf(publicKeyOf(key).expose()) };
  return { id };
}
