/** Everything that an entry about an account may show. Credentials have no place here. */
const ACCOUNT = [
  'displayName',
  'logo',
  'state',
  'transactionTypes',
  'terminals',
  'limits',
  'ipAllowlist',
  'returnHosts',
  'rateLimitPerSecond',
  'maxConcurrentRequests',
  'holdCallbackHours',
  'customParameters',
  'cardHashBesideDigits',
  'cardNumbers',
  'payoutFee',
  'payoutInstant',
  'payoutRules',
  'payoutDebtor',
  'cardRules',
  'testCardRules',
  'revision',
] as const;

/**
 * Every action that is audited, with the fields that its entries may hold in `before` and `after`. A field that is not
 * listed is never stored. A changed secret is a field of its own with the value `changed`.
 */
export const AUDITED = {
  'account.show': [],
  'accounts.list': ['accounts'],
  'account.create': [...ACCOUNT, 'password', 'payoutSecret', 'webhookSecret'],
  'account.change': ACCOUNT,
  'account.activate': ACCOUNT,
  'account.suspend': ACCOUNT,
  'account.reopen': ACCOUNT,
  'account.close': ACCOUNT,
  'account.rotate-password': [...ACCOUNT, 'password', 'signWithOldSeconds'],
  'account.rotate-payout-secret': [...ACCOUNT, 'payoutSecret'],
  'account.add-webhook-secret': [...ACCOUNT, 'webhookSecret'],
  'account.retire-webhook-secret': [...ACCOUNT, 'webhookSecret'],
  'clock.move': ['aheadSeconds', 'refused'],
  'accounts.reencrypt': ['accounts'],
  'payout.show': [],
  'payout.retry': ['state', 'code'],
  'payouts.hold': ['result', 'waiting', 'onTheirWay', 'withBank'],
  'payouts.release': ['released', 'stillHeldBy'],
  'payouts.cancel': ['result', 'ended', 'more'],
  'recovery.end': ['reason'],
  'batches.cut': ['batches'],
  'batch.rewrite': ['state'],
  'exceptions.show': [],
  'callback.show': [],
  'callback.resend': ['state'],
  'dead-letter.show': ['type'],
  'dead-letter.replay': ['type', 'topic'],
  'topics.grow': ['partitions', 'topics'],
  'installation.provision': ['did'],
  'vault.reencrypt': ['reencrypted', 'failed', 'stopped'],
  'privacy.erase': ['payments', 'payouts', 'callbacks', 'journalEntries', 'cards', 'underWay', 'more'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Action = keyof typeof AUDITED;

export const ACTIONS = Object.keys(AUDITED) as Action[];

/** Values of an action's fields. They are stored as JSON. */
export type FieldsOf<A extends Action> = { readonly [Name in (typeof AUDITED)[A][number]]?: unknown };
