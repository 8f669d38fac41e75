import type { SimulatedMoney } from '@gateway/contracts';
import { connectMongo, retryableWhenTransient } from '@gateway/mongo';
import type { KeyProviderConfig } from '@gateway/vault';
import { createKeyRing, readKeys } from '@gateway/vault';
import type { Account } from './account';
import { accountModel, loadAccount } from './account-model';
import { ACQUIRERS } from './acquirers';
import type { AccountAdministration } from './administration';
import { createAccountAdministration } from './administration';
import type { CredentialCheck } from './credentials';
import { createCredentialCheck } from './credentials';
import type { AccountDirectory } from './directory';
import { createAccountDirectory } from './directory';
import { createPasswordHasher } from './passwords';
import type { RateLimiter } from './rate-limit';
import { createRateLimiter } from './rate-limit';
import type { SafetyOptions } from './safe-accounts';
import { requireSafeAccounts } from './safe-accounts';
import type { SigningSecrets } from './signing';
import { createPasswordOpener, signingSecrets } from './signing';

export interface OpenAccountDirectory {
  readonly directory: AccountDirectory;
  /** For the start of a service: throws a ConfigurationError that names the accounts with which none should start. */
  requireSafe(options: SafetyOptions): Promise<void>;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenAccounts extends OpenAccountDirectory {
  readonly credentials: CredentialCheck;
  readonly rateLimiter: RateLimiter;
  readonly administration: AccountAdministration;
  signingSecrets(account: Account): SigningSecrets;
}

export interface AccountStorage {
  uri: string;
  databasePrefix: string;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
}

export interface OpenAccountsOptions extends AccountStorage, KeyProviderConfig {
  ACCOUNT_KEYS: string;
  /** Whether a terminal may take a real currency to the simulator. Default: no. */
  ALLOW_SIMULATED_MONEY?: SimulatedMoney;
  /** The connectors that a terminal may name. Default: those of card-processing. */
  acquirers?: readonly string[];
}

/**
 * Opens the accounts in the database `${databasePrefix}accounts`. Throws a ConfigurationError before connecting if a
 * key is invalid. Look-ups throw a RetryableError when the database is away.
 */
export async function openAccounts(options: OpenAccountsOptions): Promise<OpenAccounts> {
  const keyRing = createKeyRing((await readKeys(options, ['ACCOUNT_KEYS'])).ACCOUNT_KEYS);
  const { model, now, ...opened } = await openModel(options);
  const { directory } = opened;
  const passwords = createPasswordHasher();
  return {
    ...opened,
    credentials: createCredentialCheck({ directory, openPassword: createPasswordOpener(keyRing), passwords, now }),
    rateLimiter: createRateLimiter({ now }),
    administration: createAccountAdministration({
      model,
      keyRing,
      passwords,
      acquirers: options.acquirers ?? ACQUIRERS,
      simulatedMoney: options.ALLOW_SIMULATED_MONEY ?? 'no',
      now,
    }),
    signingSecrets: (account) => signingSecrets(keyRing, account, now()),
  };
}

/** The accounts for services that neither check passwords nor sign. They hold no key to the accounts' secrets. */
export async function openAccountDirectory(options: AccountStorage): Promise<OpenAccountDirectory> {
  const { directory, requireSafe, healthy, close } = await openModel(options);
  return { directory, requireSafe, healthy, close };
}

async function openModel({ uri, databasePrefix, now = Date.now }: AccountStorage) {
  const connection = await connectMongo({ uri, database: `${databasePrefix}accounts` });
  const model = accountModel(connection.mongoose);
  const load = (merchantAccount: string) => retryableWhenTransient(() => loadAccount(model, merchantAccount));
  return {
    model,
    now,
    directory: createAccountDirectory({ load, now }),
    requireSafe: (safety: SafetyOptions) => requireSafeAccounts(model, safety),
    healthy: () => connection.healthy(),
    close: () => connection.close(),
  };
}
