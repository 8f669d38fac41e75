import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, hkdfSync, sign, verify } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import { canonicalJson } from './entry';
import type { Anchor } from './verify';

/** Names what is derived, and what is signed: the same bytes mean nothing anywhere else. */
const PURPOSE = 'payment-gateway audit anchor 1';
const SEED_BYTES = 32;
/** What comes before the 32 bytes of an Ed25519 key in PKCS #8 and in SPKI (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** What a signature covers. `anchoredAt` is RFC 3339. */
export interface AnchorStatement extends Anchor {
  readonly anchoredAt: string;
}

/** @returns the signature in base64 */
export type SignAnchor = (statement: AnchorStatement) => string;

/**
 * Signs anchors by Ed25519. The key is derived by HKDF-SHA256 from an active key of SIGNING_KEYS, 32 bytes, so it is no
 * secret of its own to keep and rotate (ADR 0080).
 */
export function createAnchorSigner(key: Secret<Buffer>): SignAnchor {
  const privateKey = privateKeyOf(key);
  return (statement) => sign(null, bytesOf(statement), privateKey).toString('base64');
}

/** The public half for whoever verifies, 32 bytes in base64, an entry of AUDIT_ANCHOR_PUBLIC_KEY. */
export function anchorPublicKey(key: Secret<Buffer>): string {
  const spki = createPublicKey(privateKeyOf(key)).export({ format: 'der', type: 'spki' });
  return spki.subarray(SPKI_PREFIX.length).toString('base64');
}

/** The keys of AUDIT_ANCHOR_PUBLIC_KEY. */
export function anchorPublicKeysOf(text: string): KeyObject[] {
  return text.split(',').map((entry) => {
    const key = Buffer.concat([SPKI_PREFIX, Buffer.from(entry, 'base64')]);
    return createPublicKey({ key, format: 'der', type: 'spki' });
  });
}

/** Whether one of the keys has signed the whole statement. */
export function isSignedByOneOf(
  publicKeys: readonly KeyObject[],
  statement: AnchorStatement,
  signature: string,
): boolean {
  const signed = Buffer.from(signature, 'base64');
  // Base64 that is not the exact encoding would give one signature many texts.
  if (signed.toString('base64') !== signature) return false;
  return publicKeys.some((publicKey) => verify(null, bytesOf(statement), publicKey, signed));
}

function bytesOf({ sequence, hash, anchoredAt }: AnchorStatement): Buffer {
  return Buffer.from(canonicalJson({ purpose: PURPOSE, sequence, hash, anchoredAt }));
}

function privateKeyOf(key: Secret<Buffer>): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', key.expose(), '', PURPOSE, SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}
