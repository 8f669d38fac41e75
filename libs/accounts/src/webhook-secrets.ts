import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { duplicateKeyIndex } from '@gateway/mongo';
import { AccountError } from './account-error';
import { toStoredSecret } from './account-record';
import type { OpenSecret, SecretWriter } from './signing';
import type { StoredSecret } from './stored-secret';

/** Beside the accounts, so that only the services that sign callbacks may read it (ADR 0065). */
export const WEBHOOK_SECRETS = 'webhookSecrets';

/** The stored document; `_id` is the merchant account. */
export interface WebhookSecretsRecord {
  _id: string;
  /** The newest first. During a rotation there are two, and both sign. */
  secrets: StoredSecret[];
}
type Records = Collection<WebhookSecretsRecord>;

/** Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes. */
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** The sealed secrets of an account, the newest first. Undefined for an account that has none. */
export async function loadWebhookSecrets(
  records: Records,
  merchantAccount: string,
): Promise<readonly StoredSecret[] | undefined> {
  const record = await records.findOne({ _id: merchantAccount });
  return record?.secrets.map(toStoredSecret);
}

/** Creates and changes the secrets that sign callbacks by Standard Webhooks. Throws {@link AccountError}. */
export interface WebhookSecrets {
  /** The first one of a new account; generated when absent. */
  begin(merchantAccount: string, given?: Secret): Promise<Secret>;
  /** The first one of an account from before there were any. No effect on others. */
  ensure(merchantAccount: string, given: Secret): Promise<void>;
  /** Another one beside the first: both sign until the older one is retired. Refused if there are two. */
  add(merchantAccount: string): Promise<Secret>;
  /** Removes the older one. Refused if there is only one. */
  retire(merchantAccount: string): Promise<void>;
  count(merchantAccount: string): Promise<number>;
  /** Seals those that are not sealed with the active keys. Returns their accounts, and those where it failed. */
  reencrypt(): Promise<{ done: string[]; failed: [merchantAccount: string, error: unknown][] }>;
}

export function createWebhookSecrets(records: Records, writer: SecretWriter, openSecret: OpenSecret): WebhookSecrets {
  const seal = (merchantAccount: string, secret: Secret) => writer.seal(merchantAccount, 'webhook-secret', secret);

  async function sealAgain({ _id, secrets }: WebhookSecretsRecord): Promise<boolean> {
    const sealed = await Promise.all(
      secrets.map(async (secret) => seal(_id, await openSecret(_id, 'webhook-secret', toStoredSecret(secret)))),
    );
    // If somebody changes them meanwhile, the next run finds them.
    const { modifiedCount } = await records.updateOne({ _id, secrets }, { $set: { secrets: sealed } });
    return modifiedCount === 1;
  }

  return {
    async begin(merchantAccount, secret = newWebhookSecret()) {
      const secrets = [await seal(merchantAccount, secret)];
      await records.updateOne({ _id: merchantAccount }, { $set: { secrets } }, { upsert: true });
      return secret;
    },

    async ensure(merchantAccount, secret) {
      const secrets = [await seal(merchantAccount, secret)];
      await records.updateOne({ _id: merchantAccount }, { $setOnInsert: { secrets } }, { upsert: true });
    },

    async add(merchantAccount) {
      const secret = newWebhookSecret();
      const hasRoom = { _id: merchantAccount, 'secrets.1': { $exists: false } };
      const first = { secrets: { $each: [await seal(merchantAccount, secret)], $position: 0 } };
      try {
        await records.updateOne(hasRoom, { $push: first }, { upsert: true });
      } catch (error) {
        if (duplicateKeyIndex(error) === undefined) throw error;
        throw new AccountError(
          'refused',
          `Account "${merchantAccount}" has two webhook secrets already: retire the older one first (--webhook-secret retire).`,
        );
      }
      return secret;
    },

    async retire(merchantAccount) {
      const hasTwo = { _id: merchantAccount, 'secrets.1': { $exists: true } };
      const { matchedCount } = await records.updateOne(hasTwo, { $pop: { secrets: 1 } });
      if (matchedCount === 1) return;
      throw new AccountError(
        'refused',
        `Account "${merchantAccount}" has no older webhook secret to retire: make a new one first (--webhook-secret new).`,
      );
    },

    count: async (merchantAccount) => (await loadWebhookSecrets(records, merchantAccount))?.length ?? 0,

    async reencrypt() {
      const done: string[] = [];
      const failed: [string, unknown][] = [];
      const { keyId, writerKeyId } = writer;
      const others = [{ keyId: { $ne: keyId } }, { writerKeyId: { $ne: writerKeyId } }];
      const stale = { secrets: { $elemMatch: { $or: others } } };
      for await (const record of records.find(stale)) {
        try {
          if (await sealAgain(record)) done.push(record._id);
        } catch (error) {
          failed.push([record._id, error]);
        }
      }
      return { done, failed };
    },
  };
}

function newWebhookSecret(): Secret {
  return new Secret(PREFIX + randomBytes(SECRET_BYTES).toString('base64'));
}
