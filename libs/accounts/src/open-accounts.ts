import { connectMongo, retryableWhenTransient } from '@gateway/mongo';
import { parseKeyRing } from '@gateway/vault';
import type { Account } from './account';
import { accountModel, loadAccount } from './account-model';
import type { AccountAdministration } from './administration';
import { createAccountAdministration } from './administration';
import type { CredentialCheck } from './credentials';
import { createCredentialCheck } from './credentials';
import type { AccountDirectory } from './directory';
import { createAccountDirectory } from './directory';
import { createPasswordHasher } from './passwords';
import type { RateLimiter } from './rate-limit';
import { createRateLimiter } from './rate-limit';
import type { SigningSecrets } from './signing';
import { createPasswordOpener, signingSecrets } from './signing';

export interface OpenAccounts {
  readonly directory: AccountDirectory;
  readonly credentials: CredentialCheck;
  readonly rateLimiter: RateLimiter;
  readonly administration: AccountAdministration;
  signingSecrets(account: Account): SigningSecrets;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenAccountsOptions {
  uri: string;
  databasePrefix: string;
  VAULT_KEYS: string;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
}

/**
 * Opens the accounts in the database `${databasePrefix}accounts`. Throws a ConfigurationError before connecting if a
 * key is invalid. Look-ups throw a RetryableError when the database is away.
 */
export async function openAccounts(options: OpenAccountsOptions): Promise<OpenAccounts> {
  const keyRing = parseKeyRing(options.VAULT_KEYS);
  const now = options.now ?? Date.now;
  const connection = await connectMongo({ uri: options.uri, database: `${options.databasePrefix}accounts` });
  const model = accountModel(connection.mongoose);
  const passwords = createPasswordHasher();
  const directory = createAccountDirectory({
    load: (merchantAccount) => retryableWhenTransient(() => loadAccount(model, merchantAccount)),
    now,
  });
  return {
    directory,
    credentials: createCredentialCheck({ directory, openPassword: createPasswordOpener(keyRing), passwords, now }),
    rateLimiter: createRateLimiter({ now }),
    administration: createAccountAdministration({ model, keyRing, passwords, now }),
    signingSecrets: (account) => signingSecrets(keyRing, account, now()),
    healthy: () => connection.healthy(),
    close: () => connection.close(),
  };
}
