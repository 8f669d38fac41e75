import { Error as MongooseError } from 'mongoose';
import { duplicateKeyIndex } from '@gateway/mongo';
import type { Account } from './account';
import { AccountError } from './account-error';
import type { AccountDocument, AccountModel } from './account-model';
import { toAccount } from './account-record';

/** Reads and writes the stored accounts. Throws {@link AccountError}. */
export interface AccountDocuments {
  load(merchantAccount: string): Promise<AccountDocument>;
  /** A closed account never changes. */
  loadOpen(merchantAccount: string): Promise<AccountDocument>;
  /** Loads an account that is not closed, changes it and saves it. */
  edit(merchantAccount: string, change: (document: AccountDocument) => Promise<void> | void): Promise<Account>;
}

export function createAccountDocuments(model: AccountModel): AccountDocuments {
  async function load(merchantAccount: string): Promise<AccountDocument> {
    const document = await model.findById(merchantAccount);
    if (document === null) throw new AccountError('unknown', `There is no account "${merchantAccount}".`);
    return document;
  }

  async function loadOpen(merchantAccount: string): Promise<AccountDocument> {
    const document = await load(merchantAccount);
    if (document.state !== 'closed') return document;
    throw new AccountError('refused', `Account "${merchantAccount}" is closed, for good.`);
  }

  return {
    load,
    loadOpen,
    async edit(merchantAccount, change) {
      const document = await loadOpen(merchantAccount);
      await change(document);
      return saveAccount(document);
    },
  };
}

/** Writes the document unless it changed since it was read. */
export async function saveAccount(document: AccountDocument): Promise<Account> {
  try {
    // Values that only an earlier release accepted must not prevent suspending the account.
    await document.save({ validateModifiedOnly: true });
  } catch (error) {
    if (error instanceof MongooseError.ValidationError) {
      const problems = new Set(Object.values(error.errors).map((problem) => problem.message.replace(/\.$/, '')));
      throw new AccountError('invalid', `Account "${document._id}": ${[...problems].join('; ')}.`);
    }
    if (error instanceof MongooseError.VersionError) {
      throw new AccountError('conflict', `Account "${document._id}" was changed by someone else just now; try again.`);
    }
    if (duplicateKeyIndex(error) !== undefined) {
      throw new AccountError('exists', `There is an account "${document._id}" already.`);
    }
    throw error;
  }
  return toAccount(document.toObject());
}
