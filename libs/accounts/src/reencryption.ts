import { messageOf } from '@gateway/service-kit';
import type { Secret } from '@gateway/contracts';
import type { KeyRing } from '@gateway/vault';
import type { Account } from './account';
import { saveAccount } from './account-documents';
import { AccountError } from './account-error';
import type { AccountModel } from './account-model';
import { toAccount } from './account-record';
import type { SigningPurpose } from './signing';
import { sealSigningSecret, signingSecrets } from './signing';
import type { WebhookSecrets } from './webhook-secrets';

/**
 * Re-encrypts the secrets of every account that are not under the active key.
 *
 * @returns a function that does it and returns the number of accounts. It goes on after a failure, and throws an
 *   AccountError at the end that names the accounts where it failed
 */
export function createReencryption(options: {
  model: AccountModel;
  keyRing: KeyRing;
  webhookSecrets: Pick<WebhookSecrets, 'reencrypt'>;
  /** Epoch ms. */
  now: () => number;
}): () => Promise<number> {
  const { model, keyRing, webhookSecrets, now } = options;

  const seal = (merchantAccount: string, purpose: SigningPurpose, secret: Secret) =>
    sealSigningSecret(keyRing, merchantAccount, purpose, secret);

  function sealedAgain(account: Account) {
    const { merchantAccount, credentials } = account;
    const { formerSigning } = credentials.expose();
    const { cardSecret, payoutSecret } = signingSecrets(keyRing, account, Number.MAX_SAFE_INTEGER);
    const sealed = {
      signingPassword: seal(merchantAccount, 'signing-password', cardSecret),
      payoutSecret: seal(merchantAccount, 'payout-secret', payoutSecret),
    };
    // Its key may already be gone.
    if (formerSigning === undefined || formerSigning.until <= now()) return { ...sealed, formerSigning: undefined };
    const { cardSecret: former } = signingSecrets(keyRing, account, now());
    const password = seal(merchantAccount, 'signing-password', former);
    return { ...sealed, formerSigning: { password, until: formerSigning.until } };
  }

  return async () => {
    const active = keyRing.activeKeyId;
    const stale = {
      $or: [
        { 'signingPassword.keyId': { $ne: active } },
        { 'payoutSecret.keyId': { $ne: active } },
        { 'formerSigning.password.keyId': { $exists: true, $ne: active } },
      ],
    };
    const { done, failed } = await webhookSecrets.reencrypt();
    const reencrypted = new Set(done);
    const failures = failed.map(([merchantAccount, error]) => `${merchantAccount} (${messageOf(error)})`);
    for await (const document of model.find(stale).cursor()) {
      try {
        document.set(sealedAgain(toAccount(document.toObject())));
        await saveAccount(document);
        reencrypted.add(document._id);
      } catch (error) {
        reencrypted.delete(document._id);
        failures.push(`${document._id} (${messageOf(error)})`);
      }
    }
    if (failures.length === 0) return reencrypted.size;
    throw new AccountError('refused', `${reencrypted.size} encrypted again, but not ${failures.join(', ')}.`);
  };
}
