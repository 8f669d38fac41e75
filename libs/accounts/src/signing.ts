import { Secret } from '@gateway/service-kit';
import type { KeyRing, Sealed } from '@gateway/vault';
import type { Account } from './account';

/** What callbacks are signed with (decisions.md, section 6). */
export interface SigningSecrets {
  /** The merchant API password. */
  readonly cardSecret: Secret;
  readonly payoutSecret: Secret;
}

export type SigningPurpose = 'signing-password' | 'payout-secret';

/** Decrypts what the account's callbacks are signed with. Throws when VAULT_KEYS does not hold the key any more. */
export function signingSecrets(
  keyRing: KeyRing,
  account: Pick<Account, 'merchantAccount' | 'credentials'>,
): SigningSecrets {
  const { signingPassword, payoutSecret } = account.credentials.expose();
  const open = (sealed: Sealed, purpose: SigningPurpose): Secret =>
    new Secret(keyRing.decrypt(sealed, aad(account.merchantAccount, purpose)).toString('utf8'));
  return {
    cardSecret: open(signingPassword, 'signing-password'),
    payoutSecret: open(payoutSecret, 'payout-secret'),
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

/** One account's secret does not open as another's, nor a password as a payout secret. */
function aad(merchantAccount: string, purpose: SigningPurpose): string {
  return `account\0${merchantAccount}\0${purpose}`;
}
