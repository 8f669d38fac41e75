import type { SimulatedMoney } from '@gateway/contracts';
import { connectMongo, retryableWhenTransient } from '@gateway/mongo';
import { parseKeyRing } from '@gateway/vault';
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

export interface OpenAccounts {
  readonly directory: AccountDirectory;
  readonly credentials: CredentialCheck;
  readonly rateLimiter: RateLimiter;
  readonly administration: AccountAdministration;
  signingSecrets(account: Account): SigningSecrets;
  /** For the start of a service: throws a ConfigurationError that names the accounts with which none should start. */
  requireSafe(options: SafetyOptions): Promise<void>;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenAccountsOptions {
  uri: string;
  databasePrefix: string;
  VAULT_KEYS: string;
  /** Whether a terminal may take a real currency to the simulator. Default: no. */
  ALLOW_SIMULATED_MONEY?: SimulatedMoney;
  /** The connectors that a terminal may name. Default: those of card-processing. */
  acquirers?: readonly string[];
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
    administration: createAccountAdministration({
      model,
      keyRing,
      passwords,
      acquirers: options.acquirers ?? ACQUIRERS,
      simulatedMoney: options.ALLOW_SIMULATED_MONEY ?? 'no',
      now,
    }),
    signingSecrets: (account) => signingSecrets(keyRing, account, now()),
    requireSafe: (safety) => requireSafeAccounts(model, safety),
    healthy: () => connection.healthy(),
    close: () => connection.close(),
  };
}
