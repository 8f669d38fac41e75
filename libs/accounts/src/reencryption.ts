import { messageOf } from '@gateway/service-kit';
import type { Account, FormerSigning } from './account';
import { saveAccount } from './account-documents';
import { AccountError } from './account-error';
import type { AccountModel } from './account-model';
import { toAccount } from './account-record';
import type { OpenSecret, SecretWriter, SigningPurpose } from './signing';
import type { StoredSecret } from './stored-secret';
import type { WebhookSecrets } from './webhook-secrets';

/**
 * Seals the secrets of every account that are not sealed with the active keys, among them the copies of releases before
 * ADR 0079, which whoever holds ACCOUNT_KEYS can open.
 *
 * @returns a function that does it and returns the number of accounts. It goes on after a failure, and throws an
 *   AccountError at the end that names the accounts where it failed
 */
export function createReencryption(options: {
  model: AccountModel;
  secretWriter: SecretWriter;
  openSecret: OpenSecret;
  webhookSecrets: Pick<WebhookSecrets, 'reencrypt'>;
  /** Epoch ms. */
  now: () => number;
}): () => Promise<number> {
  const { model, secretWriter, openSecret, webhookSecrets, now } = options;

  async function sealAgain(merchantAccount: string, purpose: SigningPurpose, stored: StoredSecret) {
    const secret = await openSecret(merchantAccount, purpose, stored);
    return { secret, sealed: await secretWriter.seal(merchantAccount, purpose, secret) };
  }

  /** An expired one goes: its key may already be gone. */
  async function formerAgain(merchantAccount: string, former?: FormerSigning): Promise<FormerSigning | undefined> {
    if (former === undefined || former.until <= now()) return undefined;
    const { sealed } = await sealAgain(merchantAccount, 'signing-password', former.password);
    return { password: sealed, until: former.until };
  }

  async function sealedAgain({ merchantAccount, credentials }: Account) {
    const { signingPassword, payoutSecret, formerSigning } = credentials.expose();
    const password = await sealAgain(merchantAccount, 'signing-password', signingPassword);
    return {
      passwordVerifier: secretWriter.passwordVerifier(merchantAccount, password.secret),
      signingPassword: password.sealed,
      payoutSecret: (await sealAgain(merchantAccount, 'payout-secret', payoutSecret)).sealed,
      formerSigning: await formerAgain(merchantAccount, formerSigning),
    };
  }

  return async () => {
    const { done, failed } = await webhookSecrets.reencrypt();
    const reencrypted = new Set(done);
    const failures = failed.map(([merchantAccount, error]) => `${merchantAccount} (${messageOf(error)})`);
    for await (const document of model.find(stale(secretWriter)).cursor()) {
      try {
        document.set(await sealedAgain(toAccount(document.toObject())));
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

function stale({ keyId, writerKeyId }: SecretWriter) {
  const ofSecret = (field: string) => [
    { [`${field}.keyId`]: { $ne: keyId } },
    { [`${field}.writerKeyId`]: { $ne: writerKeyId } },
  ];
  return {
    $or: [
      ...ofSecret('signingPassword'),
      ...ofSecret('payoutSecret'),
      { formerSigning: { $exists: true }, $or: ofSecret('formerSigning.password') },
      { 'passwordVerifier.keyId': { $ne: writerKeyId } },
    ],
  };
}
