import { createHash } from 'node:crypto';
import type { AuditLog, FieldsOf, Operator } from '@gateway/audit';
import type { Account, PayoutRule } from './account';
import { publicFields } from './account-printout';
import type { StateAction } from './account-state';
import type { AccountAdministration } from './administration';

type AccountAction = `account.${'change' | StateAction}`;

const IBAN_FIRST_SHOWN = 4;
const IBAN_LAST_SHOWN = 4;
const CHANGED = 'changed';

export interface AuditedAdministration extends AccountAdministration {
  /** Like `get`, on record, for an operator to see. */
  show(merchantAccount: string): Promise<Account>;
  /** Every account, on record. */
  showAll(): Promise<Account[]>;
}

/**
 * The same administration, with every change in the audit log, and what an operator sees. Command lines use no other.
 *
 * @param options.audit writes the intent before a change and the outcome after it
 */
export function auditedAdministration(options: {
  administration: AccountAdministration;
  audit: Pick<AuditLog, 'record'>;
  operator: Operator;
}): AuditedAdministration {
  const { administration, audit, operator } = options;

  const before = async (subject: string) => auditedFields(await administration.get(subject));

  const changed = async (action: AccountAction, subject: string, change: () => Promise<Account>): Promise<Account> =>
    audit.record({ operator, action, subject, before: await before(subject) }, change, auditedFields);

  return {
    create: (account) =>
      audit.record(
        { operator, action: 'account.create', subject: account.merchantAccount },
        () => administration.create(account),
        (created) => ({
          ...auditedFields(created.account),
          password: CHANGED,
          payoutSecret: CHANGED,
          webhookSecret: CHANGED,
        }),
      ),
    change: (name, changes) => changed('account.change', name, () => administration.change(name, changes)),
    changeState: (name, action) => changed(`account.${action}`, name, () => administration.changeState(name, action)),
    rotatePassword: async (subject, rotation = {}) =>
      audit.record(
        { operator, action: 'account.rotate-password', subject, before: await before(subject) },
        () => administration.rotatePassword(subject, rotation),
        ({ account }) => ({
          ...auditedFields(account),
          password: CHANGED,
          signWithOldSeconds: rotation.signWithOldSeconds ?? 0,
        }),
      ),
    rotatePayoutSecret: async (subject) =>
      audit.record(
        { operator, action: 'account.rotate-payout-secret', subject, before: await before(subject) },
        () => administration.rotatePayoutSecret(subject),
        ({ account }) => ({ ...auditedFields(account), payoutSecret: CHANGED }),
      ),
    addWebhookSecret: async (subject) =>
      audit.record(
        { operator, action: 'account.add-webhook-secret', subject, before: await before(subject) },
        () => administration.addWebhookSecret(subject),
        ({ account }) => ({ ...auditedFields(account), webhookSecret: CHANGED }),
      ),
    ensureWebhookSecret: async (subject, secret) =>
      audit.record(
        { operator, action: 'account.add-webhook-secret', subject, before: await before(subject) },
        () => administration.ensureWebhookSecret(subject, secret),
        (account) => ({ ...auditedFields(account), webhookSecret: CHANGED }),
      ),
    retireWebhookSecret: async (subject) =>
      audit.record(
        { operator, action: 'account.retire-webhook-secret', subject, before: await before(subject) },
        () => administration.retireWebhookSecret(subject),
        (account) => ({ ...auditedFields(account), webhookSecret: CHANGED }),
      ),
    countWebhookSecrets: (name) => administration.countWebhookSecrets(name),
    reencrypt: () =>
      audit.record(
        { operator, action: 'accounts.reencrypt', subject: 'all accounts' },
        () => administration.reencrypt(),
        (accounts) => ({ accounts }),
      ),
    show: (subject) => audit.record({ operator, action: 'account.show', subject }, () => administration.get(subject)),
    showAll: () =>
      audit.record(
        { operator, action: 'accounts.list', subject: 'all accounts' },
        () => listAll(administration),
        (accounts) => ({ accounts: accounts.length }),
      ),
    get: (name) => administration.get(name),
    list: (after) => administration.list(after),
  };
}

async function listAll(administration: AccountAdministration): Promise<Account[]> {
  const accounts: Account[] = [];
  let page = await administration.list();
  while (page.length > 0) {
    accounts.push(...page);
    page = await administration.list(page.at(-1)?.merchantAccount);
  }
  return accounts;
}

/** Everything public. Blocked IBANs belong to people, so only their ends are shown. */
export function auditedFields(account: Account): FieldsOf<'account.change'> {
  const { payoutRules = [], logo, ...others } = publicFields(account);
  return {
    ...others,
    ...(logo === undefined ? {} : { logo: logoDigest(logo) }),
    payoutRules: payoutRules.map(withoutPeople),
  };
}

/** As much as an entry needs to tell one logo from another. */
function logoDigest(logo: string): string {
  return `sha256:${createHash('sha256').update(logo, 'base64').digest('hex')}`;
}

function withoutPeople(rule: PayoutRule): object {
  if (rule.kind !== 'blocked-ibans') return rule;
  return {
    ...rule,
    ibans: rule.ibans.map((iban) => `${iban.slice(0, IBAN_FIRST_SHOWN)}…${iban.slice(-IBAN_LAST_SHOWN)}`),
  };
}
