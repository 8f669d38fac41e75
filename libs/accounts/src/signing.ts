import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import type { KeyRing, Keys, Sealed, SealedSecret } from '@gateway/vault';
import {
  createKeyRing,
  createSecretOpener,
  createSecretSealer,
  createVerifier,
  DecryptionError,
  isSameVerifier,
  UnknownKeyError,
} from '@gateway/vault';
import type { Account } from './account';
import { AccountError } from './account-error';
import type { StoredSecret } from './stored-secret';
import { isSealed } from './stored-secret';

/** Secrets that sign callbacks (decisions.md, section 6). */
export interface SigningSecrets {
  /** The merchant API password. */
  readonly cardSecret: Secret;
  readonly payoutSecret: Secret;
}

/** As long as a generated password. */
const NOBODYS_PASSWORD_BYTES = 24;
const NOBODY = 'nobody';

export type SigningPurpose = 'signing-password' | 'payout-secret' | 'webhook-secret';

/** Seals accounts' secrets for callback-dispatcher. Holds no key that opens them. */
export interface SecretWriter {
  /** Of SIGNING_PUBLIC_KEY. */
  readonly keyId: string;
  /** Of ACCOUNT_KEYS. */
  readonly writerKeyId: string;
  seal(merchantAccount: string, purpose: SigningPurpose, secret: Secret): Promise<SealedSecret>;
  passwordVerifier(merchantAccount: string, password: Secret): Sealed;
}

/** Throws UnknownKeyError or DecryptionError, also if the secret belongs to another account or purpose. */
export type OpenSecret = (merchantAccount: string, purpose: SigningPurpose, stored: StoredSecret) => Promise<Secret>;

export function createSecretWriter(publicKeys: Keys, accountKeys: Keys): SecretWriter {
  const sealer = createSecretSealer(publicKeys, accountKeys);
  const verifier = createVerifier(accountKeys);
  return {
    keyId: sealer.keyId,
    writerKeyId: sealer.writerKeyId,
    seal: (merchantAccount, purpose, secret) => sealer.seal(secret, belongsTo(merchantAccount, purpose)),
    passwordVerifier: (merchantAccount, password) => verifier.of(belongsTo(merchantAccount, 'password'))(password),
  };
}

/** Without private keys it opens only what is not sealed yet. */
export function createOpenSecret(accountKeys: Keys, privateKeys?: Keys): OpenSecret {
  const keyRing = createKeyRing(accountKeys);
  const opener = privateKeys && createSecretOpener(privateKeys, accountKeys);
  return async (merchantAccount, purpose, stored) => {
    if (!isSealed(stored)) return openCopy(keyRing, merchantAccount, purpose, stored);
    if (opener === undefined) throw new AccountError('refused', 'SIGNING_KEYS is not set, so no sealed secret opens.');
    return opener.open(stored, belongsTo(merchantAccount, purpose));
  };
}

/** The secrets that sign the account's callbacks at that time (epoch ms): after a rotation the former password, for as long as the operator set. */
export async function signingSecrets(
  open: OpenSecret,
  account: Pick<Account, 'merchantAccount' | 'credentials'>,
  now: number,
): Promise<SigningSecrets> {
  const { signingPassword, payoutSecret, formerSigning } = account.credentials.expose();
  const password = formerSigning !== undefined && now < formerSigning.until ? formerSigning.password : signingPassword;
  const { merchantAccount } = account;
  return {
    cardSecret: await open(merchantAccount, 'signing-password', password),
    payoutSecret: await open(merchantAccount, 'payout-secret', payoutSecret),
  };
}

/** Whether it is the account's password; undefined if ACCOUNT_KEYS lacks the key that tells. */
export type PasswordCheck = (account: Account | undefined, password: Secret) => boolean | undefined;

/**
 * Each check decrypts one copy and makes two verifiers with one key: of the account or of nobody. So its time tells
 * neither whether the account exists nor which form its password has.
 */
export function createPasswordCheck(accountKeys: Keys): PasswordCheck {
  const keyRing = createKeyRing(accountKeys);
  const verifier = createVerifier(accountKeys);
  const nobodysPassword = new Secret(randomBytes(NOBODYS_PASSWORD_BYTES).toString('base64url'));
  const nobodysCopy = encryptCopy(keyRing, NOBODY, 'signing-password', nobodysPassword);
  const nobodysVerifier = verifier.of(belongsTo(NOBODY, 'password'))(nobodysPassword);

  return (account, password) => {
    const name = account?.merchantAccount ?? NOBODY;
    const { signingPassword, passwordVerifier } = account?.credentials.expose() ?? {
      passwordVerifier: nobodysVerifier,
    };
    const copy = signingPassword === undefined || isSealed(signingPassword) ? undefined : signingPassword;
    try {
      const opened = openCopy(keyRing, copy === undefined ? NOBODY : name, 'signing-password', copy ?? nobodysCopy);
      const verifierOf = verifier.of(
        belongsTo(name, 'password'),
        copy === undefined ? passwordVerifier?.keyId : undefined,
      );
      const ofCopy = verifierOf(opened);
      // A copy decides: an earlier release that sets a new password leaves the verifier of the old one.
      const expected = copy === undefined ? passwordVerifier : ofCopy;
      return expected && isSameVerifier(expected, verifierOf(password));
    } catch (error) {
      if (error instanceof UnknownKeyError || error instanceof DecryptionError) return undefined;
      throw error;
    }
  };
}

/** As releases before ADR 0079 wrote it. Tests write such copies, and checks decrypt one of nobody's. */
export function encryptCopy(
  keyRing: KeyRing,
  merchantAccount: string,
  purpose: SigningPurpose,
  secret: Secret,
): Sealed {
  return keyRing.encrypt(secret.expose(), belongsTo(merchantAccount, purpose));
}

function openCopy(keyRing: KeyRing, merchantAccount: string, purpose: SigningPurpose, copy: Sealed): Secret {
  return new Secret(keyRing.decrypt(copy, belongsTo(merchantAccount, purpose)).toString('utf8'));
}

/** One account's secret does not open as another's, nor a password as a payout secret. */
function belongsTo(merchantAccount: string, purpose: SigningPurpose | 'password'): string {
  return `account\0${merchantAccount}\0${purpose}`;
}
