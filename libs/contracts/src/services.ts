import type { TopicName } from './topics';

/** What may be done with a collection. `collMod`: change the time after which an index removes documents. */
export type CollectionAction = 'find' | 'insert' | 'update' | 'remove' | 'listIndexes' | 'createIndex' | 'collMod';

/** Collections of databases, without prefix, that are not the user's own, and what it does with them. */
export type SharedCollections = Readonly<Record<string, Readonly<Record<string, readonly CollectionAction[]>>>>;

/**
 * What a service does with Kafka and MongoDB. The service cannot do more: it takes its group, its topics and its database
 * from here, and `npm run kafka -- acls` and `npm run mongo -- roles` derive what its users may do.
 */
export interface ServiceDeclaration {
  /** Also its first user ({@link usersOf}), its Kafka client, its consumer group, and the `source` of its messages. */
  readonly name: string;
  /** Its own database, without prefix. */
  readonly database: string;
  /** Topics that it reads in its group. It writes their dead letters, and reads them again for `deadLetterReplays`. */
  readonly consumes: readonly TopicName[];
  readonly produces: readonly TopicName[];
  /**
   * In a recovery it gets again what its database may lack (ADR 0088): only if its handlers know what may have been done.
   * Without it, the lost range is noticed, and not read again.
   */
  readonly readsLostAgain?: true;
  /** Topics that each replica reads as a whole, in groups of its own whose names begin with the service's and a dot. */
  readonly reads?: readonly TopicName[];
  /** Topics that it writes, and reads after its database was restored: what is in them belongs into the database. */
  readonly rereads?: readonly TopicName[];
  /** Another service's group, whose progress on topics it observes. */
  readonly watches?: { readonly groupId: string; readonly topics: readonly TopicName[] };
  readonly shares: SharedCollections;
}

/** For whoever records actions of operators. Entries are never changed. */
const writeAudit = { audit: { entries: ['find', 'insert'] } } as const satisfies SharedCollections;

/**
 * For the one service that makes the index which removes old entries, and sees how long its time is. Whoever may do that
 * can empty the log.
 */
const keepAudit = {
  audit: { entries: ['find', 'insert', 'listIndexes', 'createIndex', 'collMod'] },
} as const satisfies SharedCollections;

const readAccounts = { accounts: { accounts: ['find'] } } as const satisfies SharedCollections;

/** Also follows the clocks of sandbox accounts, and reports how far it has come (ADR 0067). */
const followAccounts = {
  accounts: { ...readAccounts.accounts, clocks: ['find', 'update'] },
} as const satisfies SharedCollections;

/** `npm run doctor` compares indexes, and counts records by their keys' ids. */
const inspect = {
  edge: { journal: ['listIndexes'], checkouts: ['listIndexes'], test_record_counts: ['listIndexes'] },
  cards: { payments: ['listIndexes'], counters: ['listIndexes'] },
  threeds: { authentications: ['listIndexes'] },
  payouts: {
    payouts: ['listIndexes'],
    reservations: ['listIndexes'],
    iso20022_members: ['listIndexes'],
    iso20022_batches: ['listIndexes'],
    iso20022_reports: ['listIndexes'],
  },
  expiry: { deadlines: ['listIndexes'] },
  callbacks: {
    deliveries: ['listIndexes'],
    incomplete: ['listIndexes'],
    attempts: ['listIndexes'],
    feed: ['listIndexes'],
  },
  vault: { cards: ['find', 'listIndexes'], cvvs: ['listIndexes'], numbers: ['listIndexes'] },
  audit: { entries: ['listIndexes'] },
  accounts: { accounts: ['find'], webhookSecrets: ['find'], clocks: ['listIndexes'] },
} as const satisfies SharedCollections;

const ofRecovery = { progress: ['find', 'update'] } as const;

/** `npm run recovery` ends a service's recovery, and lists what has no known outcome or no end. */
const endRecoveries = {
  edge: ofRecovery,
  cards: { ...ofRecovery, payments: ['find'] },
  threeds: ofRecovery,
  payouts: { ...ofRecovery, payouts: ['find'] },
  expiry: { ...ofRecovery, deadlines: ['find'] },
  callbacks: ofRecovery,
} as const satisfies SharedCollections;

/** Command lines that connect to MongoDB themselves. */
export const commandLines = {
  merchant: {
    name: 'merchant',
    shares: {
      ...writeAudit,
      accounts: { accounts: ['find', 'insert', 'update'], webhookSecrets: ['find', 'insert', 'update'] },
    },
  },
  vault: { name: 'vault', shares: { ...writeAudit, vault: { cards: ['find', 'update', 'createIndex'] } } },
  dlq: { name: 'dlq', shares: writeAudit },
  kafka: { name: 'kafka', shares: writeAudit },
  recovery: { name: 'recovery', shares: { ...writeAudit, ...endRecoveries } },
  audit: { name: 'audit', shares: { audit: { entries: ['find', 'listIndexes'] } } },
  doctor: { name: 'doctor', shares: inspect },
  privacy: {
    name: 'privacy',
    shares: {
      ...writeAudit,
      cards: { payments: ['find', 'update'] },
      payouts: { payouts: ['find', 'update'], iso20022_members: ['find', 'update'] },
      vault: { cards: ['find', 'remove'] },
      callbacks: { deliveries: ['find', 'update'], incomplete: ['find'], attempts: ['find', 'update'] },
      edge: { journal: ['find', 'update'] },
    },
  },
} as const satisfies Record<string, Pick<ServiceDeclaration, 'name' | 'shares'>>;

/**
 * Who reads topics from outside the gateway, with a user and a consumer group of the same name. Writes nothing, and has no
 * user at MongoDB. examples/analytics is one.
 */
export const outsideReaders = {
  analytics: { name: 'analytics', consumes: ['cardEvents', 'payoutEvents', 'callbackEvents'] },
} as const satisfies Record<string, Pick<ServiceDeclaration, 'name' | 'consumes'>>;

/** Every service. */
export const services = {
  apiEdge: {
    name: 'api-edge',
    database: 'edge',
    consumes: ['gatewayReplies'],
    produces: ['cardCommands', 'payoutCommands', 'cvvKeys'],
    rereads: ['cardCommands', 'payoutCommands'],
    shares: {
      ...writeAudit,
      accounts: { ...readAccounts.accounts, clocks: ['find', 'insert', 'update', 'createIndex'] },
      vault: {
        cards: ['find', 'insert', 'update'],
        cvvs: ['insert', 'update', 'remove'],
        numbers: ['find', 'insert', 'update'],
      },
    },
  },
  cardProcessing: {
    name: 'card-processing',
    database: 'cards',
    consumes: ['cardCommands', 'cardExpiries', 'threedsEvents', 'deadLetterReplays'],
    produces: ['cardEvents', 'threedsCommands', 'gatewayReplies'],
    readsLostAgain: true,
    reads: ['cvvKeys'],
    shares: {
      ...followAccounts,
      vault: {
        cards: ['find', 'update', 'createIndex'],
        cvvs: ['find', 'remove', 'createIndex'],
        numbers: ['createIndex'],
      },
    },
  },
  threeds: {
    name: 'threeds',
    database: 'threeds',
    consumes: ['threedsCommands', 'deadLetterReplays'],
    produces: ['threedsEvents'],
    shares: { ...followAccounts, vault: { cards: ['find', 'update'] } },
  },
  payout: {
    name: 'payout',
    database: 'payouts',
    consumes: ['payoutCommands', 'deadLetterReplays'],
    produces: ['payoutEvents'],
    readsLostAgain: true,
    shares: { ...readAccounts, ...writeAudit },
  },
  authExpiry: {
    name: 'auth-expiry',
    database: 'expiry',
    consumes: ['cardEvents', 'deadLetterReplays'],
    produces: ['cardExpiries'],
    readsLostAgain: true,
    watches: { groupId: 'card-processing', topics: ['cardCommands', 'cardExpiries'] },
    shares: {},
  },
  callbackDispatcher: {
    name: 'callback-dispatcher',
    database: 'callbacks',
    consumes: ['cardEvents', 'payoutEvents', 'deadLetterReplays'],
    produces: ['callbackEvents'],
    readsLostAgain: true,
    // The only service that may read the secrets of callbacks.
    shares: { accounts: { ...followAccounts.accounts, webhookSecrets: ['find'] }, ...keepAudit },
  },
  simulator: { name: 'simulator', database: 'simulator', consumes: [], produces: [], shares: {} },
} as const satisfies Record<string, ServiceDeclaration>;

/**
 * The users of a service at Kafka and at MongoDB, with the same rights. All replicas run as one of them, so that the
 * password of the other one can change without a login that is refused (ADR 0085).
 */
export function usersOf({ name }: Pick<ServiceDeclaration, 'name'>): readonly [string, string] {
  return [name, `${name}-b`];
}
