import { createRequire } from 'node:module';
import type { SignAnchor } from '@gateway/audit';
import { createAnchorSigner } from '@gateway/audit';
import type { Secret, SimulatedMoney } from '@gateway/contracts';
import type { Collection, DatabaseAddress } from '@gateway/mongo';
import { connectMongo, retryableWhenTransient } from '@gateway/mongo';
import type { HeldKeys } from '@gateway/service-kit';
import type { KeyProviderConfig, Keys } from '@gateway/vault';
import { heldKeysOf, readKeys } from '@gateway/vault';
import type { Account } from './account';
import type * as AccountModels from './account-model';
import type { AccountRecord } from './account-record';
import { ACCOUNTS, loadAccount, loadLogo } from './account-record';
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
import type { OpenSecret, SigningSecrets } from './signing';
import type { StoredSecret } from './stored-secret';
import { createOpenSecret, createPasswordCheck, createSecretWriter, signingSecrets } from './signing';
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

/** What api-edge needs. It opens no secret that is sealed. */
export interface OpenLogins extends OpenAccountDirectory {
  /** Logos in base64 by account, undefined where there is none. */
  readonly logos: AccountDirectory<string>;
  readonly credentials: CredentialCheck;
  readonly rateLimiter: RateLimiter;
  /** With which they were opened. */
  readonly heldKeys: HeldKeys;
}

/** What callback-dispatcher needs. */
export interface OpenSigning extends OpenAccountDirectory {
  readonly heldKeys: HeldKeys;
  /** Throws UnknownKeyError or DecryptionError. */
  signingSecrets(account: Account): Promise<SigningSecrets>;
  /**
   * The secrets that sign the account's callbacks by Standard Webhooks, the newest first; none or up to two. From a cache
   * like the directory's. Only callback-dispatcher has the right to read them.
   */
  webhookSecrets(merchantAccount: string): Promise<readonly Secret[]>;
}

export interface OpenAccounts extends OpenLogins, OpenSigning {
  readonly administration: AccountAdministration;
}

export interface AccountStorage extends DatabaseAddress {
  databasePrefix: string;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
}

export interface OpenLoginsOptions extends AccountStorage, KeyProviderConfig {
  ACCOUNT_KEYS: string;
}

export interface OpenSigningOptions extends OpenLoginsOptions {
  SIGNING_KEYS: string;
}

export interface OpenAccountsOptions extends OpenLoginsOptions {
  SIGNING_PUBLIC_KEY: string;
  /** Opens sealed secrets, which only `reencrypt` and tests do. */
  SIGNING_KEYS?: string;
  /** Whether a terminal may take a real currency to the simulator. Default: no. */
  ALLOW_SIMULATED_MONEY?: SimulatedMoney;
  /** The connectors that a terminal may name. Default: those of card-processing. */
  acquirers?: readonly string[];
}

/** 5 MB of the largest. */
const LOGOS_KEPT = 500;

type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * Opens the accounts in the database `${databasePrefix}accounts`, to check passwords. Throws a ConfigurationError before
 * connecting if a key is invalid. Look-ups throw a RetryableError when the database is away.
 */
export async function openLogins(options: OpenLoginsOptions): Promise<OpenLogins> {
  const keys = await readKeys(options, ['ACCOUNT_KEYS']);
  const storage = await openStorage(options);
  return { ...directoryOf(storage), ...loginsOf(storage, keys.ACCOUNT_KEYS), heldKeys: heldKeysOf(keys) };
}

/** The same, to sign callbacks and anchors of the audit log. */
export async function openSigning(options: OpenSigningOptions): Promise<OpenSigning & { signAnchor: SignAnchor }> {
  const keys = await readKeys(options, ['ACCOUNT_KEYS', 'SIGNING_KEYS']);
  const storage = await openStorage(options);
  const open = createOpenSecret(keys.ACCOUNT_KEYS, keys.SIGNING_KEYS);
  const signAnchor = createAnchorSigner(keys.SIGNING_KEYS.active.key);
  return { ...directoryOf(storage), ...signingOf(storage, open), heldKeys: heldKeysOf(keys), signAnchor };
}

/** The same, to make and change accounts. */
export async function openAccounts(options: OpenAccountsOptions): Promise<OpenAccounts> {
  const { SIGNING_KEYS } = options;
  const keys = await readKeys(options, ['ACCOUNT_KEYS', 'SIGNING_PUBLIC_KEY']);
  const privateKeys = SIGNING_KEYS === undefined ? {} : await readKeys({ ...options, SIGNING_KEYS }, ['SIGNING_KEYS']);
  const held: { SIGNING_KEYS?: Keys } & typeof keys = { ...keys, ...privateKeys };
  const storage = await openStorage(options);
  const openSecret = createOpenSecret(held.ACCOUNT_KEYS, held.SIGNING_KEYS);
  return {
    ...directoryOf(storage),
    ...loginsOf(storage, keys.ACCOUNT_KEYS),
    ...signingOf(storage, openSecret),
    heldKeys: heldKeysOf(keys),
    administration: whenUsed(() => {
      const load = createRequire(__filename);
      const { accountModel } = load('./account-model') as typeof AccountModels;
      const { createAccountAdministration } = load('./administration') as typeof Administrations;
      const secretWriter = createSecretWriter(keys.SIGNING_PUBLIC_KEY, keys.ACCOUNT_KEYS);
      return createAccountAdministration({
        model: accountModel(storage.connection.mongoose),
        secretWriter,
        openSecret,
        passwords: createPasswordHasher(),
        webhookSecrets: createWebhookSecrets(webhookRecords(storage), secretWriter, openSecret),
        acquirers: options.acquirers ?? ACQUIRERS,
        simulatedMoney: options.ALLOW_SIMULATED_MONEY ?? 'no',
        now: storage.now,
      });
    }),
  };
}

function loginsOf({ directory, logos, now }: Storage, accountKeys: Keys) {
  const matchesPassword = createPasswordCheck(accountKeys);
  return {
    logos,
    credentials: createCredentialCheck({ directory, matchesPassword, passwords: createPasswordHasher(), now }),
    rateLimiter: createRateLimiter({ now }),
  };
}

function signingOf(storage: Storage, open: OpenSecret) {
  const { now } = storage;
  return {
    signingSecrets: (account: Account) => signingSecrets(open, account, now()),
    webhookSecrets: createWebhookSecretReader(webhookRecords(storage), open, now),
  };
}

function webhookRecords({ connection }: Storage): Collection<WebhookSecretsRecord> {
  return connection.collection<WebhookSecretsRecord>(WEBHOOK_SECRETS);
}

function createWebhookSecretReader(records: Collection<WebhookSecretsRecord>, open: OpenSecret, now: () => number) {
  const load = (merchantAccount: string) => retryableWhenTransient(() => loadWebhookSecrets(records, merchantAccount));
  const directory = createAccountDirectory({ load, now });
  // Opened once for as long as they are cached.
  const opened = new WeakMap<readonly StoredSecret[], Promise<readonly Secret[]>>();
  return async (merchantAccount: string): Promise<readonly Secret[]> => {
    const stored = await directory.find(merchantAccount);
    if (stored === undefined) return [];
    const secrets =
      opened.get(stored) ?? Promise.all(stored.map((one) => open(merchantAccount, 'webhook-secret', one)));
    opened.set(stored, secrets);
    return secrets;
  };
}

/** The accounts for services that neither check passwords nor sign. They hold no key to the accounts' secrets. */
export async function openAccountDirectory(options: AccountStorage): Promise<OpenAccountDirectory> {
  return directoryOf(await openStorage(options));
}

function directoryOf({ directory, clocks, requireSafe, healthy, close }: Storage): OpenAccountDirectory {
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
  const loadLogoOf = (merchantAccount: string) => retryableWhenTransient(() => loadLogo(accounts, merchantAccount));
  return {
    connection,
    now,
    logos: createAccountDirectory({ load: loadLogoOf, now, maxEntries: LOGOS_KEPT }),
    directory: createAccountDirectory({ load, now }),
    clocks: createSandboxClocks(connection.collection<ClockRecord>(CLOCKS), now),
    requireSafe: (safety: SafetyOptions) => requireSafeAccounts(accounts, safety),
    healthy: () => connection.healthy(),
    close: () => connection.close(),
  };
}
