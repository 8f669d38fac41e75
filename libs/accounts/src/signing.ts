import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import type { KeyRing, Sealed } from '@gateway/vault';
import { DecryptionError, UnknownKeyError } from '@gateway/vault';
import type { Account } from './account';

/** Secrets that sign callbacks (decisions.md, section 6). */
export interface SigningSecrets {
  /** The merchant API password. */
  readonly cardSecret: Secret;
  readonly payoutSecret: Secret;
}

/** As long as a generated password. */
const NOBODYS_PASSWORD_BYTES = 24;

export type SigningPurpose = 'signing-password' | 'payout-secret' | 'webhook-secret';

/**
 * Decrypts the secrets that sign the account's callbacks at that time (epoch ms): after a rotation the former password,
 * for as long as the operator set. Throws if ACCOUNT_KEYS no longer has the key.
 */
export function signingSecrets(
  keyRing: KeyRing,
  account: Pick<Account, 'merchantAccount' | 'credentials'>,
  now: number,
): SigningSecrets {
  const { signingPassword, payoutSecret, formerSigning } = account.credentials.expose();
  const password = formerSigning !== undefined && now < formerSigning.until ? formerSigning.password : signingPassword;
  const { merchantAccount } = account;
  return {
    cardSecret: openSigningSecret(keyRing, merchantAccount, 'signing-password', password),
    payoutSecret: openSigningSecret(keyRing, merchantAccount, 'payout-secret', payoutSecret),
  };
}

/** Throws if ACCOUNT_KEYS has not its key, or if it was sealed for another account or purpose. */
export function openSigningSecret(
  keyRing: KeyRing,
  merchantAccount: string,
  purpose: SigningPurpose,
  sealed: Sealed,
): Secret {
  return new Secret(keyRing.decrypt(sealed, aad(merchantAccount, purpose)).toString('utf8'));
}

/**
 * Decrypts the copy of an account's current password. Undefined if ACCOUNT_KEYS cannot decrypt it. Without an account it
 * decrypts a dummy, to take as long.
 */
export function createPasswordOpener(keyRing: KeyRing): (account: Account | undefined) => Secret | undefined {
  const nobody = 'nobody';
  const password = new Secret(randomBytes(NOBODYS_PASSWORD_BYTES).toString('base64url'));
  const nobodysCopy = sealSigningSecret(keyRing, nobody, 'signing-password', password);
  return (account) => {
    const copy = account?.credentials.expose().signingPassword ?? nobodysCopy;
    try {
      return new Secret(keyRing.decrypt(copy, aad(account?.merchantAccount ?? nobody, 'signing-password')).toString());
    } catch (error) {
      if (error instanceof UnknownKeyError || error instanceof DecryptionError) return undefined;
      throw error;
    }
  };
}

export function sealSigningSecret(
  keyRing: KeyRing,
  merchantAccount: string,
  purpose: SigningPurpose,
  secret: Secret,
): Sealed {
  return keyRing.encrypt(secret.expose(), aad(merchantAccount, purpose));
}

/** One account's secret does not decrypt as another's, nor a password as a payout secret. */
function aad(merchantAccount: string, purpose: SigningPurpose): string {
  return `account\0${merchantAccount}\0${purpose}`;
}
