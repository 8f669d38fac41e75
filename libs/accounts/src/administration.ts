import type { Secret, SimulatedMoney } from '@gateway/contracts';
import { TEST_CURRENCY, TRANSACTION_TYPES } from '@gateway/contracts';
import type { Account, AccountSettings } from './account';
import type { AccountChanges } from './account-changes';
import { applyChanges, canonical, requirePayoutSettings } from './account-changes';
import { createAccountDocuments, saveAccount } from './account-documents';
import { AccountError } from './account-error';
import type { AccountModel } from './account-model';
import type { AccountRecord } from './account-record';
import { toAccount } from './account-record';
import type { StateAction } from './account-state';
import { nextStanding } from './account-state';
import { checkedSecret, newSecret } from './new-secrets';
import type { PasswordHasher } from './passwords';
import { createReencryption } from './reencryption';
import type { SecretFields, SecretRotation } from './secret-rotation';
import { createSecretRotation } from './secret-rotation';
import type { OpenSecret, SecretWriter } from './signing';
import type { NewTerminal } from './terminals';
import { createTerminals } from './terminals';
import type { WebhookSecrets } from './webhook-secrets';

const MAX_PAGE = 1000;

export interface NewAccount {
  merchantAccount: string;
  /** Generated when absent. */
  password?: Secret;
  payoutSecret?: Secret;
  /** `whsec_…`, generated when absent. */
  webhookSecret?: Secret;
  /**
   * Defaults: all types but PAYOUT, no limits, no allowlist, the request limits of the account's state, nothing custom;
   * for payouts no fee, no rules, no debtor, not instant.
   */
  settings?: Partial<AccountSettings>;
  /** In addition to the sandbox's, which every account has. */
  terminals?: readonly NewTerminal[];
}

export interface CreatedAccount {
  account: Account;
  password: Secret;
  payoutSecret: Secret;
  webhookSecret: Secret;
}

/** Creates and changes accounts. Changes take effect within 30 s everywhere. Throws {@link AccountError}. */
export interface AccountAdministration extends SecretRotation {
  create(account: NewAccount): Promise<CreatedAccount>;
  change(merchantAccount: string, changes: AccountChanges): Promise<Account>;
  changeState(merchantAccount: string, action: StateAction): Promise<Account>;
  /** Seals the secrets of every account that are not sealed with the active keys. Returns of how many. */
  reencrypt(): Promise<number>;
  /** From the database, not from a cache. */
  get(merchantAccount: string): Promise<Account>;
  /** Sorted by name, after `after`; at most 1000, without their logos. */
  list(after?: string): Promise<Account[]>;
}

export interface AccountAdministrationOptions {
  model: AccountModel;
  secretWriter: SecretWriter;
  openSecret: OpenSecret;
  passwords: Pick<PasswordHasher, 'hash'>;
  webhookSecrets: WebhookSecrets;
  /** The connectors that a terminal may name. */
  acquirers: readonly string[];
  simulatedMoney: SimulatedMoney;
  /** Epoch ms. */
  now: () => number;
}

export function createAccountAdministration(options: AccountAdministrationOptions): AccountAdministration {
  const { model, webhookSecrets } = options;
  const documents = createAccountDocuments(model);
  const terminals = createTerminals(options);
  const fields = secretFields(options);

  return {
    ...createSecretRotation({ ...options, documents, fields }),
    reencrypt: createReencryption(options),

    async create({ merchantAccount, settings, ...given }) {
      const password = checkedSecret('password', given.password) ?? newSecret();
      const payoutSecret = checkedSecret('payout secret', given.payoutSecret) ?? newSecret();
      const record: Omit<AccountRecord, 'revision'> = {
        _id: merchantAccount,
        state: 'test',
        ...(await fields.ofPassword(merchantAccount, password)),
        ...(await fields.ofPayoutSecret(merchantAccount, payoutSecret)),
        transactionTypes: TRANSACTION_TYPES,
        limits: [],
        ipAllowlist: [],
        returnHosts: [],
        customParameters: [],
        payoutFee: { fixedE4: 0, percentE4: 0 },
        ...canonical(settings ?? {}),
        terminals: terminals.create(merchantAccount, [{ currency: TEST_CURRENCY }, ...(given.terminals ?? [])]),
      };
      const document = new model(record);
      requirePayoutSettings(document);
      const account = await saveAccount(document);
      const webhookSecret = await webhookSecrets.begin(merchantAccount, given.webhookSecret);
      return { account, password, payoutSecret, webhookSecret };
    },

    change: (merchantAccount, changes) =>
      documents.edit(merchantAccount, (document) => applyChanges(document, changes, terminals)),

    changeState: (merchantAccount, action) =>
      documents.edit(merchantAccount, (document) => {
        const next = nextStanding(document.toObject(), action);
        if (next === undefined) {
          throw new AccountError(
            'refused',
            `Account "${merchantAccount}" is ${document.state}: ${action} is not possible.`,
          );
        }
        if (next.state === 'active') terminals.requireRealMoney(document.toObject().terminals);
        document.set({ state: next.state, suspendedFrom: next.suspendedFrom });
      }),

    get: async (merchantAccount) => toAccount((await documents.load(merchantAccount)).toObject()),

    async list(after = '') {
      const records = await model
        .find({ _id: { $gt: after } }, { logo: 0 })
        .sort({ _id: 1 })
        .limit(MAX_PAGE)
        .lean<AccountRecord[]>();
      return records.map(toAccount);
    },
  };
}

function secretFields({ secretWriter, passwords }: AccountAdministrationOptions): SecretFields {
  return {
    ofPassword: async (merchantAccount, password) => ({
      passwordHash: await passwords.hash(password),
      passwordVerifier: secretWriter.passwordVerifier(merchantAccount, password),
      signingPassword: await secretWriter.seal(merchantAccount, 'signing-password', password),
    }),
    ofPayoutSecret: async (merchantAccount, secret) => ({
      payoutSecret: await secretWriter.seal(merchantAccount, 'payout-secret', secret),
    }),
  };
}
