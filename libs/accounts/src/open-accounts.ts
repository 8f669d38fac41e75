import { createRequire } from 'node:module';
import type { Secret, SimulatedMoney } from '@gateway/contracts';
import type { Collection, DatabaseAddress } from '@gateway/mongo';
import { connectMongo, retryableWhenTransient } from '@gateway/mongo';
import type { KeyIds } from '@gateway/service-kit';
import type { KeyProviderConfig, KeyRing, Sealed } from '@gateway/vault';
import { createKeyRing, keyIdsOf, readKeys } from '@gateway/vault';
import type { Account } from './account';
import type * as AccountModels from './account-model';
import type { AccountRecord } from './account-record';
import { ACCOUNTS, loadAccount } from './account-record';
import { ACQUIRERS } from './acquirers';
import type * as Administrations from './administration';
import type { AccountAdministration } from './administration';
import { whenUsed } from './when-used';
import type { CredentialCheck } from './credentials';
import { createCredentialCheck } from './credentials';
import type { AccountDirectory } from './directory';
import { createAccountDirectory } from './directory';
import { createPasswordHasher } from './passwords';
import type { RateLimiter } from './rate-limit';
import { createRateLimiter } from './rate-limit';
import type { ClockRecord, SandboxClocks } from './sandbox-clocks';
import { CLOCKS, createSandboxClocks } from './sandbox-clocks';
import type { SafetyOptions } from './safe-accounts';
import { requireSafeAccounts } from './safe-accounts';
import type { SigningSecrets } from './signing';
import { createPasswordOpener, openSigningSecret, signingSecrets } from './signing';
import type { WebhookSecretsRecord } from './webhook-secrets';
import { createWebhookSecrets, loadWebhookSecrets, WEBHOOK_SECRETS } from './webhook-secrets';

export interface OpenAccountDirectory {
  readonly directory: AccountDirectory;
  readonly clocks: SandboxClocks;
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
  /** Of the keys with which they were opened. */
  readonly keyIds: KeyIds;
  signingSecrets(account: Account): SigningSecrets;
  /**
   * The secrets that sign the account's callbacks by Standard Webhooks, the newest first; none or up to two. From a cache
   * like the directory's. Only callback-dispatcher has the right to read them. Throws if ACCOUNT_KEYS lacks a key.
   */
  webhookSecrets(merchantAccount: string): Promise<readonly Secret[]>;
}

export interface AccountStorage extends DatabaseAddress {
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
  const keys = await readKeys(options, ['ACCOUNT_KEYS']);
  const keyRing = createKeyRing(keys.ACCOUNT_KEYS);
  const { connection, now, ...opened } = await openStorage(options);
  const { directory } = opened;
  const passwords = createPasswordHasher();
  const records = connection.collection<WebhookSecretsRecord>(WEBHOOK_SECRETS);
  const administration = (): AccountAdministration => {
    const load = createRequire(__filename);
    const { accountModel } = load('./account-model') as typeof AccountModels;
    const { createAccountAdministration } = load('./administration') as typeof Administrations;
    return createAccountAdministration({
      model: accountModel(connection.mongoose),
      keyRing,
      passwords,
      webhookSecrets: createWebhookSecrets(records, keyRing),
      acquirers: options.acquirers ?? ACQUIRERS,
      simulatedMoney: options.ALLOW_SIMULATED_MONEY ?? 'no',
      now,
    });
  };
  return {
    ...opened,
    keyIds: keyIdsOf(keys),
    credentials: createCredentialCheck({ directory, openPassword: createPasswordOpener(keyRing), passwords, now }),
    rateLimiter: createRateLimiter({ now }),
    administration: whenUsed(administration),
    signingSecrets: (account) => signingSecrets(keyRing, account, now()),
    webhookSecrets: createWebhookSecretReader(records, keyRing, now),
  };
}

function createWebhookSecretReader(records: Collection<WebhookSecretsRecord>, keyRing: KeyRing, now: () => number) {
  const load = (merchantAccount: string) => retryableWhenTransient(() => loadWebhookSecrets(records, merchantAccount));
  const directory = createAccountDirectory({ load, now });
  // Decrypted once for as long as they are cached.
  const opened = new WeakMap<readonly Sealed[], readonly Secret[]>();
  return async (merchantAccount: string): Promise<readonly Secret[]> => {
    const sealed = await directory.find(merchantAccount);
    if (sealed === undefined) return [];
    const secrets =
      opened.get(sealed) ?? sealed.map((one) => openSigningSecret(keyRing, merchantAccount, 'webhook-secret', one));
    opened.set(sealed, secrets);
    return secrets;
  };
}

/** The accounts for services that neither check passwords nor sign. They hold no key to the accounts' secrets. */
export async function openAccountDirectory(options: AccountStorage): Promise<OpenAccountDirectory> {
  const { directory, clocks, requireSafe, healthy, close } = await openStorage(options);
  return { directory, clocks, requireSafe, healthy, close };
}

/** Makes the indexes of the accounts' database. api-edge does so at its start, too. Needs no key. */
export async function ensureAccountIndexes(options: AccountStorage): Promise<void> {
  const accounts = await openAccountDirectory(options);
  await accounts.clocks.ensureIndexes().finally(() => accounts.close());
}

async function openStorage({ uri, mongo, databasePrefix, now = Date.now }: AccountStorage) {
  const connection = await connectMongo({ uri, mongo, database: `${databasePrefix}accounts` });
  const accounts = connection.collection<AccountRecord>(ACCOUNTS);
  const load = (merchantAccount: string) => retryableWhenTransient(() => loadAccount(accounts, merchantAccount));
  return {
    connection,
    now,
    directory: createAccountDirectory({ load, now }),
    clocks: createSandboxClocks(connection.collection<ClockRecord>(CLOCKS), now),
    requireSafe: (safety: SafetyOptions) => requireSafeAccounts(accounts, safety),
    healthy: () => connection.healthy(),
    close: () => connection.close(),
  };
}
