import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@gateway/contracts';

/**
 * The handles of an AUTH3D. Derived from its reference: a reloaded page shows the same ones, and the database holds
 * none to steal.
 */
export interface Proofs {
  /** The PaReq, which the merchant's page posts to `acs_url`. */
  pareq(reference: string): string;
  /** The PaRes, which the browser brings back to the merchant. */
  pares(reference: string): string;
  /** SHA-256 of the PaRes, 64 hex digits, by which others check a PaRes. */
  paresHash(reference: string): string;
  isPareq(reference: string, given: string): boolean;
}

/** `key` has 32 bytes or more. */
export function createProofs(key: Secret<Buffer>): Proofs {
  const derive = (purpose: 'pareq' | 'pares', reference: string): string =>
    createHmac('sha256', key.expose()).update(`${purpose}\0${reference}`).digest('base64url');
  return {
    pareq: (reference) => derive('pareq', reference),
    pares: (reference) => derive('pares', reference),
    paresHash: (reference) => sha256(derive('pares', reference)).toString('hex'),
    isPareq: (reference, given) => timingSafeEqual(sha256(given), sha256(derive('pareq', reference))),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
