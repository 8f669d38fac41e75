import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import type { Authentication } from '../domain/authentication';

/** An authentication, as far as its handles depend on it. */
export type Proven = Pick<Authentication, 'reference' | 'proofKeyId'>;

/**
 * The handles of an AUTH3D. Derived from its reference: a reloaded page shows the same ones, and the database holds
 * none to steal. All handles of an authentication are under the key that was the first one when it began.
 */
export interface Proofs {
  /** Of the first key. */
  readonly keyId: string;
  /** The PaReq, which the merchant's page posts to `acs_url`. */
  pareq(of: Proven): string;
  /** The PaRes, which the browser brings back to the merchant. */
  pares(of: Proven): string;
  /** SHA-256 of the PaRes, 64 hex digits, by which others check a PaRes. */
  paresHash(of: Proven): string;
  isPareq(of: Proven, given: string): boolean;
}

const KEY_ID_LENGTH = 8;

/** @param keys each of 32 bytes or more; the first one is for authentications that begin, and for those without a key's id */
export function createProofs(keys: readonly [Secret<Buffer>, ...Secret<Buffer>[]]): Proofs {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const derive = (purpose: 'pareq' | 'pares', { reference, proofKeyId }: Proven): string => {
    const key = byId.get(proofKeyId ?? '') ?? keys[0];
    return createHmac('sha256', key.expose()).update(`${purpose}\0${reference}`).digest('base64url');
  };
  return {
    keyId: idOf(keys[0]),
    pareq: (of) => derive('pareq', of),
    pares: (of) => derive('pares', of),
    paresHash: (of) => sha256(derive('pares', of)).toString('hex'),
    isPareq: (of, given) => timingSafeEqual(sha256(given), sha256(derive('pareq', of))),
  };
}

/** Tells a key from others, and nothing about it. */
function idOf(key: Secret<Buffer>): string {
  return createHmac('sha256', key.expose()).update('key id').digest('base64url').slice(0, KEY_ID_LENGTH);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
