import { randomBytes, randomInt } from 'node:crypto';
import { Error as MongooseError } from 'mongoose';
import { duplicateKeyIndex } from '@gateway/mongo';
import { canonicalRange, messageOf } from '@gateway/service-kit';
import type { KeyRing } from '@gateway/vault';
import type { SimulatedMoney, TransactionType } from '@gateway/contracts';
import { Secret, TEST_CURRENCY, TRANSACTION_TYPES } from '@gateway/contracts';
import type { Account, AccountSettings, PayoutRule, PayoutRuleKind, Terminal } from './account';
import { MAX_CREDENTIAL_LENGTH, MIN_CREDENTIAL_LENGTH } from './account';
import { AccountError } from './account-error';
import type { AccountDocument, AccountModel } from './account-model';
import type { AccountRecord } from './account-record';
import { toAccount } from './account-record';
import type { StateAction } from './account-state';
import { nextStanding } from './account-state';
import { isSimulated, SANDBOX_ACQUIRER } from './acquirers';
import type { CardRules, CardRulesByKind } from './card-rules';
import { DEFAULT_CARD_RULES, withCardRules } from './card-rules';
import type { PasswordHasher } from './passwords';
import { payoutProblem } from './payout-permission';
import type { SigningPurpose } from './signing';
import { sealSigningSecret, signingSecrets } from './signing';
import type { WebhookSecrets } from './webhook-secrets';

const MAX_PAGE = 1000;
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;
const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const MID_ID_DIGITS = 10;
const SIMULATOR_RULE = `The simulator takes ${TEST_CURRENCY} alone`;
const PRINTABLE = /^[\x20-\x7e]*$/;

export interface NewTerminal {
  currency: string;
  /** Name of a connector; the simulator by default. */
  acquirer?: string;
  holdSeconds?: number;
  lateVoid?: boolean;
  /** Account and currency by default. */
  name?: string;
}

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

/** Rules of the named kinds; an empty list removes a kind. */
export type PayoutRulesByKind = Partial<Record<PayoutRuleKind, readonly PayoutRule[]>>;

/** Each list replaces the previous one. Terminals are named by their `mid_reference`. */
export interface AccountChanges extends Partial<Omit<AccountSettings, 'transactionTypes'>> {
  /** Replaces the enabled card transactions. */
  transactionTypes?: readonly TransactionType[];
  /** Turns payouts on or off. On needs a daily amount and, in EUR, a debtor. */
  payouts?: boolean;
  /** Replaces the rules of these kinds and keeps all others. */
  payoutRulesByKind?: PayoutRulesByKind;
  /** The same for velocity rules in real currencies, and in XTS. */
  cardRulesByKind?: CardRulesByKind;
  testCardRulesByKind?: CardRulesByKind;
  addTerminals?: readonly NewTerminal[];
  activateTerminals?: readonly string[];
  deactivateTerminals?: readonly string[];
  removeTerminals?: readonly string[];
}

export interface CreatedAccount {
  account: Account;
  password: Secret;
  payoutSecret: Secret;
  webhookSecret: Secret;
}

/** Creates and changes accounts. Changes take effect within 30 s everywhere. Throws {@link AccountError}. */
export interface AccountAdministration {
  create(account: NewAccount): Promise<CreatedAccount>;
  change(merchantAccount: string, changes: AccountChanges): Promise<Account>;
  changeState(merchantAccount: string, action: StateAction): Promise<Account>;
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
  /** Re-encrypts the secrets of every account that are not under the active key. Returns how many were. */
  reencrypt(): Promise<number>;
  /** From the database, not from a cache. */
  get(merchantAccount: string): Promise<Account>;
  /** Sorted by name, after `after`; at most 1000. */
  list(after?: string): Promise<Account[]>;
}

export interface AccountAdministrationOptions {
  model: AccountModel;
  keyRing: KeyRing;
  passwords: Pick<PasswordHasher, 'hash'>;
  webhookSecrets: WebhookSecrets;
  /** The connectors that a terminal may name. */
  acquirers: readonly string[];
  simulatedMoney: SimulatedMoney;
  /** Epoch ms. */
  now: () => number;
}

export function createAccountAdministration(options: AccountAdministrationOptions): AccountAdministration {
  const { model, keyRing, passwords, webhookSecrets, acquirers, simulatedMoney, now } = options;

  const seal = (merchantAccount: string, purpose: SigningPurpose, secret: Secret) =>
    sealSigningSecret(keyRing, merchantAccount, purpose, secret);

  async function passwordFields(merchantAccount: string, password: Secret) {
    return {
      passwordHash: await passwords.hash(password),
      signingPassword: seal(merchantAccount, 'signing-password', password),
    };
  }

  async function load(merchantAccount: string): Promise<AccountDocument> {
    const document = await model.findById(merchantAccount);
    if (document === null) throw new AccountError('unknown', `There is no account "${merchantAccount}".`);
    return document;
  }

  /** A closed account never changes. */
  async function loadOpen(merchantAccount: string): Promise<AccountDocument> {
    const document = await load(merchantAccount);
    if (document.state !== 'closed') return document;
    throw new AccountError('refused', `Account "${merchantAccount}" is closed, for good.`);
  }

  async function edit(merchantAccount: string, change: (document: AccountDocument) => Promise<void> | void) {
    const document = await loadOpen(merchantAccount);
    await change(document);
    return save(document);
  }

  function newTerminals(merchantAccount: string, given: readonly NewTerminal[]): Terminal[] {
    const terminals = given.map((one) => newTerminal(merchantAccount, one));
    const unknown = terminals.find(({ acquirer }) => !acquirers.includes(acquirer));
    if (unknown !== undefined) {
      const known = acquirers.join(', ');
      throw new AccountError('invalid', `There is no connector "${unknown.acquirer}"; there are: ${known}.`);
    }
    const simulated = terminals.find((one) => isSimulated(one, simulatedMoney));
    if (simulated === undefined) return terminals;
    const { currency } = simulated;
    throw new AccountError('invalid', `${SIMULATOR_RULE}: name another connector for the terminal in ${currency}.`);
  }

  /** Terminals that are about to take payments. */
  function requireRealMoney(terminals: readonly Terminal[]): void {
    const simulated = terminals.filter((one) => one.active && isSimulated(one, simulatedMoney));
    if (simulated.length === 0) return;
    const list = simulated.map(({ midReference, currency }) => `${midReference} (${currency})`).join(', ');
    throw new AccountError('refused', `${SIMULATOR_RULE}, but it is the acquirer of ${list}: deactivate or remove it.`);
  }

  function sealedAgain(account: Account) {
    const { merchantAccount, credentials } = account;
    const { formerSigning } = credentials.expose();
    const { cardSecret, payoutSecret } = signingSecrets(keyRing, account, Number.MAX_SAFE_INTEGER);
    const sealed = {
      signingPassword: seal(merchantAccount, 'signing-password', cardSecret),
      payoutSecret: seal(merchantAccount, 'payout-secret', payoutSecret),
    };
    // Its key may already be gone.
    if (formerSigning === undefined || formerSigning.until <= now()) return { ...sealed, formerSigning: undefined };
    const { cardSecret: former } = signingSecrets(keyRing, account, now());
    const password = seal(merchantAccount, 'signing-password', former);
    return { ...sealed, formerSigning: { password, until: formerSigning.until } };
  }

  return {
    async create({ merchantAccount, settings, terminals, ...given }) {
      const password = checked('password', given.password) ?? newSecret();
      const payoutSecret = checked('payout secret', given.payoutSecret) ?? newSecret();
      const record: Omit<AccountRecord, 'revision'> = {
        _id: merchantAccount,
        state: 'test',
        ...(await passwordFields(merchantAccount, password)),
        payoutSecret: seal(merchantAccount, 'payout-secret', payoutSecret),
        transactionTypes: TRANSACTION_TYPES,
        limits: [],
        ipAllowlist: [],
        returnHosts: [],
        customParameters: [],
        payoutFee: { fixedE4: 0, percentE4: 0 },
        ...canonical(settings ?? {}),
        terminals: newTerminals(merchantAccount, [{ currency: TEST_CURRENCY }, ...(terminals ?? [])]),
      };
      const document = new model(record);
      requirePayoutSettings(document);
      const account = await save(document);
      const webhookSecret = await webhookSecrets.begin(merchantAccount, given.webhookSecret);
      return { account, password, payoutSecret, webhookSecret };
    },

    change: (merchantAccount, changes) =>
      edit(merchantAccount, (document) => {
        const { addTerminals, activateTerminals, deactivateTerminals, removeTerminals, ...others } = changes;
        const { payoutRulesByKind, cardRulesByKind, testCardRulesByKind, ...rest } = others;
        const { payouts, transactionTypes, ...settings } = rest;
        document.set(canonical(settings));
        const account = toAccount(document.toObject());
        if (payoutRulesByKind !== undefined) document.set(canonical(replacedRules(account, payoutRulesByKind)));
        document.set(replacedCardRules(account, cardRulesByKind, testCardRulesByKind));
        if (transactionTypes !== undefined || payouts !== undefined) {
          document.set({ transactionTypes: changedTypes(account, transactionTypes, payouts) });
        }
        if (changesPayouts(changes)) requirePayoutSettings(document);
        let terminals = [...account.terminals];
        terminals.push(...newTerminals(merchantAccount, addTerminals ?? []));
        for (const midReference of removeTerminals ?? []) {
          requireTerminal(terminals, midReference);
          terminals = terminals.filter((one) => one.midReference !== midReference);
        }
        terminals = switched(switched(terminals, activateTerminals ?? [], true), deactivateTerminals ?? [], false);
        requireRealMoney(terminals.filter(({ midReference }) => activateTerminals?.includes(midReference)));
        document.set({ terminals });
      }),

    changeState: (merchantAccount, action) =>
      edit(merchantAccount, (document) => {
        const next = nextStanding(document.toObject(), action);
        if (next === undefined) {
          throw new AccountError(
            'refused',
            `Account "${merchantAccount}" is ${document.state}: ${action} is not possible.`,
          );
        }
        if (next.state === 'active') requireRealMoney(document.toObject().terminals);
        document.set({ state: next.state, suspendedFrom: next.suspendedFrom });
      }),

    async rotatePassword(merchantAccount, { password: given, signWithOldSeconds = 0 } = {}) {
      const password = checked('password', given) ?? newSecret();
      requireOverlap(signWithOldSeconds);
      const account = await edit(merchantAccount, async (document) => {
        const { signingPassword } = toAccount(document.toObject()).credentials.expose();
        const formerSigning = { password: signingPassword, until: now() + signWithOldSeconds * 1000 };
        document.set({
          ...(await passwordFields(merchantAccount, password)),
          formerSigning: signWithOldSeconds === 0 ? undefined : formerSigning,
        });
      });
      return { account, password };
    },

    async rotatePayoutSecret(merchantAccount) {
      const payoutSecret = newSecret();
      const account = await edit(merchantAccount, (document) => {
        document.set({ payoutSecret: seal(merchantAccount, 'payout-secret', payoutSecret) });
      });
      return { account, payoutSecret };
    },

    async addWebhookSecret(merchantAccount) {
      const account = toAccount((await loadOpen(merchantAccount)).toObject());
      return { account, webhookSecret: await webhookSecrets.add(merchantAccount) };
    },

    async ensureWebhookSecret(merchantAccount, secret) {
      const account = toAccount((await loadOpen(merchantAccount)).toObject());
      await webhookSecrets.ensure(merchantAccount, secret);
      return account;
    },

    async retireWebhookSecret(merchantAccount) {
      const account = toAccount((await loadOpen(merchantAccount)).toObject());
      await webhookSecrets.retire(merchantAccount);
      return account;
    },

    countWebhookSecrets: (merchantAccount) => webhookSecrets.count(merchantAccount),

    async reencrypt() {
      const active = keyRing.activeKeyId;
      const stale = {
        $or: [
          { 'signingPassword.keyId': { $ne: active } },
          { 'payoutSecret.keyId': { $ne: active } },
          { 'formerSigning.password.keyId': { $exists: true, $ne: active } },
        ],
      };
      const { done, failed } = await webhookSecrets.reencrypt();
      const reencrypted = new Set(done);
      const failures = failed.map(([merchantAccount, error]) => `${merchantAccount} (${messageOf(error)})`);
      for await (const document of model.find(stale).cursor()) {
        try {
          document.set(sealedAgain(toAccount(document.toObject())));
          await save(document);
          reencrypted.add(document._id);
        } catch (error) {
          reencrypted.delete(document._id);
          failures.push(`${document._id} (${messageOf(error)})`);
        }
      }
      if (failures.length === 0) return reencrypted.size;
      throw new AccountError('refused', `${reencrypted.size} encrypted again, but not ${failures.join(', ')}.`);
    },

    get: async (merchantAccount) => toAccount((await load(merchantAccount)).toObject()),

    async list(after = '') {
      const records = await model
        .find({ _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(MAX_PAGE)
        .lean<AccountRecord[]>();
      return records.map(toAccount);
    },
  };
}

/** Writes the document unless it changed since it was read. */
async function save(document: AccountDocument): Promise<Account> {
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

/** PAYOUT is switched by itself, so that a list of card transactions never turns payouts on. */
function changedTypes(
  { transactionTypes: before }: Account,
  given: readonly TransactionType[] | undefined,
  payouts = before.includes('PAYOUT'),
): Account['transactionTypes'] {
  const types = given ?? before.filter((type) => type !== 'PAYOUT');
  return payouts ? [...types, 'PAYOUT'] : types;
}

/** Other changes must not fail because of an account from before payouts needed these settings. */
function changesPayouts({ payouts, payoutRulesByKind, payoutRules, payoutDebtor }: AccountChanges): boolean {
  return [payouts, payoutRulesByKind?.['daily-amount'], payoutRules, payoutDebtor].some((one) => one !== undefined);
}

function requirePayoutSettings(document: AccountDocument): void {
  const problem = payoutProblem(document.toObject());
  if (problem !== undefined) throw new AccountError('invalid', `Account "${document._id}": ${problem}.`);
}

function canonical(settings: Partial<AccountSettings>): Partial<AccountSettings> {
  const { displayName, ipAllowlist, returnHosts, payoutRules, payoutDebtor, ...others } = settings;
  return {
    ...others,
    // The account's name again if it is undefined.
    ...('displayName' in settings ? { displayName: displayName?.normalize('NFC') } : {}),
    // Leaves values without a canonical form as they are; the schema refuses them by name.
    ...(ipAllowlist === undefined ? {} : { ipAllowlist: ipAllowlist.map((range) => canonicalRange(range) ?? range) }),
    ...(returnHosts === undefined ? {} : { returnHosts: returnHosts.map((host) => host.toLowerCase()) }),
    ...(payoutRules === undefined ? {} : { payoutRules: payoutRules.map(canonicalRule) }),
    ...(payoutDebtor === undefined ? {} : { payoutDebtor: electronic(payoutDebtor) }),
  };
}

/** Countries and IBANs as payouts contain them: upper case, without spaces, each once. */
function canonicalRule(rule: PayoutRule): PayoutRule {
  const unique = (codes: readonly string[]) => [...new Set(codes.map(electronic))];
  if (rule.kind === 'blocked-countries') return { ...rule, countries: unique(rule.countries) };
  if (rule.kind === 'blocked-ibans') return { ...rule, ibans: unique(rule.ibans) };
  return rule;
}

function electronic(code: string): string {
  return code.replace(/\s/g, '').toUpperCase();
}

function replacedRules(account: Account, byKind: PayoutRulesByKind): Pick<AccountSettings, 'payoutRules'> {
  const kept = (account.payoutRules ?? []).filter(({ kind }) => byKind[kind] === undefined);
  return { payoutRules: [...kept, ...Object.values(byKind).flat()] };
}

function replacedCardRules(
  account: Account,
  real: CardRulesByKind | undefined,
  test: CardRulesByKind | undefined,
): CardRules {
  return {
    ...(real && { cardRules: withCardRules(account.cardRules ?? DEFAULT_CARD_RULES, real) }),
    ...(test && { testCardRules: withCardRules(account.testCardRules ?? [], test) }),
  };
}

function checked(name: string, secret: Secret | undefined): Secret | undefined {
  const length = secret?.expose().length ?? MIN_CREDENTIAL_LENGTH;
  if (length < MIN_CREDENTIAL_LENGTH || length > MAX_CREDENTIAL_LENGTH || !PRINTABLE.test(secret?.expose() ?? '')) {
    const range = `${MIN_CREDENTIAL_LENGTH} to ${MAX_CREDENTIAL_LENGTH}`;
    throw new AccountError('invalid', `The ${name} must have ${range} printable ASCII characters.`);
  }
  return secret;
}

function requireOverlap(seconds: number): void {
  if (Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= MAX_OVERLAP_SECONDS) return;
  throw new AccountError('invalid', `The old password may sign for 0 to ${MAX_OVERLAP_SECONDS} seconds.`);
}

/** 32 letters and digits: 190 bits. A weak secret could be guessed from a callback's signature. */
function newSecret(): Secret {
  const characters = Array.from(
    { length: MAX_CREDENTIAL_LENGTH },
    () => SECRET_ALPHABET[randomInt(SECRET_ALPHABET.length)],
  );
  return new Secret(characters.join(''));
}

function newTerminal(merchantAccount: string, given: NewTerminal): Terminal {
  return {
    midReference: `MD${randomBytes(7).toString('hex').toUpperCase()}`,
    midId: String(randomInt(10 ** (MID_ID_DIGITS - 1), 10 ** MID_ID_DIGITS)),
    name: given.name ?? `${merchantAccount} ${given.currency}`,
    currency: given.currency,
    acquirer: given.acquirer ?? SANDBOX_ACQUIRER,
    active: true,
    ...(given.holdSeconds === undefined ? {} : { holdSeconds: given.holdSeconds }),
    lateVoid: given.lateVoid ?? false,
  };
}

function switched(terminals: readonly Terminal[], midReferences: readonly string[], active: boolean): Terminal[] {
  for (const midReference of midReferences) requireTerminal(terminals, midReference);
  return terminals.map((one) => (midReferences.includes(one.midReference) ? { ...one, active } : one));
}

function requireTerminal(terminals: readonly Terminal[], midReference: string): void {
  if (terminals.some((one) => one.midReference === midReference)) return;
  throw new AccountError('invalid', `The account has no terminal "${midReference}".`);
}
