import type { Secret } from '@gateway/contracts';
import type { Account } from './account';
import type { AccountDocuments } from './account-documents';
import { AccountError } from './account-error';
import type { AccountRecord } from './account-record';
import { toAccount } from './account-record';
import { checkedSecret, newSecret } from './new-secrets';
import type { WebhookSecrets } from './webhook-secrets';

const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** Gives accounts new secrets. Throws {@link AccountError}. */
export interface SecretRotation {
  /**
   * Sets a new password for requests and card callbacks; the old one is refused within 30 s. The old one keeps signing
   * callbacks for `signWithOldSeconds` (0 by default, a week at most).
   */
  rotatePassword(
    merchantAccount: string,
    options?: { password?: Secret | undefined; signWithOldSeconds?: number | undefined },
  ): Promise<{ account: Account; password: Secret }>;
  rotatePayoutSecret(merchantAccount: string): Promise<{ account: Account; payoutSecret: Secret }>;
  /** Another secret for callbacks by Standard Webhooks: both sign until the older one is retired. Refused if there are two. */
  addWebhookSecret(merchantAccount: string): Promise<{ account: Account; webhookSecret: Secret }>;
  /** Sets the first one of an account that has none. */
  ensureWebhookSecret(merchantAccount: string, secret: Secret): Promise<Account>;
  /** Removes the older one. Refused if there is only one. */
  retireWebhookSecret(merchantAccount: string): Promise<Account>;
  /** How many sign callbacks: none, one, or two during a rotation. */
  countWebhookSecrets(merchantAccount: string): Promise<number>;
}

/** The stored forms of a secret. */
export interface SecretFields {
  ofPassword(
    merchantAccount: string,
    password: Secret,
  ): Promise<Pick<AccountRecord, 'passwordHash' | 'passwordVerifier' | 'signingPassword'>>;
  ofPayoutSecret(merchantAccount: string, secret: Secret): Promise<Pick<AccountRecord, 'payoutSecret'>>;
}

export function createSecretRotation(options: {
  documents: AccountDocuments;
  fields: SecretFields;
  webhookSecrets: WebhookSecrets;
  /** Epoch ms. */
  now: () => number;
}): SecretRotation {
  const { documents, fields, webhookSecrets, now } = options;
  return {
    async rotatePassword(merchantAccount, { password: given, signWithOldSeconds = 0 } = {}) {
      const password = checkedSecret('password', given) ?? newSecret();
      requireOverlap(signWithOldSeconds);
      const account = await documents.edit(merchantAccount, async (document) => {
        const { signingPassword } = toAccount(document.toObject()).credentials.expose();
        const formerSigning = { password: signingPassword, until: now() + signWithOldSeconds * 1000 };
        document.set({
          ...(await fields.ofPassword(merchantAccount, password)),
          formerSigning: signWithOldSeconds === 0 ? undefined : formerSigning,
        });
      });
      return { account, password };
    },

    async rotatePayoutSecret(merchantAccount) {
      const payoutSecret = newSecret();
      const account = await documents.edit(merchantAccount, async (document) => {
        document.set(await fields.ofPayoutSecret(merchantAccount, payoutSecret));
      });
      return { account, payoutSecret };
    },

    async addWebhookSecret(merchantAccount) {
      const account = toAccount((await documents.loadOpen(merchantAccount)).toObject());
      return { account, webhookSecret: await webhookSecrets.add(merchantAccount) };
    },

    async ensureWebhookSecret(merchantAccount, secret) {
      const account = toAccount((await documents.loadOpen(merchantAccount)).toObject());
      await webhookSecrets.ensure(merchantAccount, secret);
      return account;
    },

    async retireWebhookSecret(merchantAccount) {
      const account = toAccount((await documents.loadOpen(merchantAccount)).toObject());
      await webhookSecrets.retire(merchantAccount);
      return account;
    },

    countWebhookSecrets: (merchantAccount) => webhookSecrets.count(merchantAccount),
  };
}

function requireOverlap(seconds: number): void {
  if (Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= MAX_OVERLAP_SECONDS) return;
  throw new AccountError('invalid', `The old password may sign for 0 to ${MAX_OVERLAP_SECONDS} seconds.`);
}
