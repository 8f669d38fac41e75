const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Topic {
  /** Without prefix; ends in the major version of its messages. */
  readonly name: string;
  /** The field of all its messages whose value is their Kafka key. */
  readonly key: string;
  readonly retentionMs: number;
  /** Kafka removes whole segments. Default: the broker's, a week. */
  readonly segmentMs?: number;
  /** What is in it and who reads it; goes into docs/messages.md (`npm run docs`). */
  readonly description: string;
  /** Topic of its messages that can never be processed. Topics that no service consumes have none. */
  readonly deadLetters?: string;
}

function consumed(name: string, key: string, retentionMs: number, description: string): Topic {
  return { name: `${name}.v1`, key, retentionMs, description, deadLetters: `${name}.dlq.v1` };
}

/** Every topic. Keys are payment or payout ids, so messages about one payment are in order on one partition. */
export const topics = {
  cardEvents: consumed(
    'card.events',
    'paymentId',
    30 * DAY_MS,
    'What happened to payments. For readers outside the gateway too',
  ),
  cardCommands: consumed(
    'card.commands',
    'paymentId',
    7 * DAY_MS,
    'Requests of merchants, with personal data. Only card-processing reads it',
  ),
  /** A topic of its own, so that whoever reports the end of a hold cannot write a merchant's command (ADR 0077). */
  cardExpiries: consumed(
    'card.expiries',
    'paymentId',
    7 * DAY_MS,
    'Holds whose time is over or soon will be. Only card-processing reads it',
  ),
  payoutEvents: consumed(
    'payout.events',
    'payoutId',
    30 * DAY_MS,
    'What happened to payouts. For readers outside the gateway too',
  ),
  payoutCommands: consumed(
    'payout.commands',
    'payoutId',
    7 * DAY_MS,
    'Payouts that merchants requested, with personal data. Only payout reads it',
  ),
  threedsEvents: consumed(
    'threeds.events',
    'paymentId',
    30 * DAY_MS,
    'Results of authentications. Only card-processing reads it',
  ),
  threedsCommands: consumed(
    'threeds.commands',
    'paymentId',
    7 * DAY_MS,
    'Authentications to run, with personal data. Only threeds reads it',
  ),
  callbackEvents: {
    name: 'callback.events.v1',
    key: 'paymentId',
    retentionMs: 30 * DAY_MS,
    description: 'Attempts and results of callbacks to merchants. For readers outside the gateway',
  },
  /** The store has the outcome too, so ten minutes are plenty. */
  gatewayReplies: {
    name: 'gateway.replies.v1',
    key: 'paymentId',
    retentionMs: HOUR_MS / 6,
    description: 'Outcomes for the api-edge replica that waits for them',
  },
  /**
   * The operators' command line writes it. It has no dead letters: what cannot be replayed is in its dead-letter topic
   * already (ADR 0082).
   */
  deadLetterReplays: {
    name: 'dead-letter.replays.v1',
    key: 'deadLetters',
    retentionMs: 7 * DAY_MS,
    description: 'Dead letters to handle again: where they are, not what they say',
  },
  /** A key is used for 5 minutes, and what it encrypted may be read for 20 more (ADR 0042). */
  cvvKeys: {
    name: 'cvv.keys.v1',
    key: 'keyId',
    retentionMs: 30 * MINUTE_MS,
    segmentMs: 5 * MINUTE_MS,
    description:
      'Keys that encrypt security codes for a few minutes, themselves encrypted. Only card-processing reads it',
  },
} as const satisfies Record<string, Topic>;

export type TopicName = keyof typeof topics;

/** Partitions of every topic but dead letters, unless KAFKA_PARTITIONS says otherwise. */
export const DEFAULT_PARTITIONS = 12;

/** Dead letters wait for an operator, who may be on holiday. */
export const DEAD_LETTER_RETENTION_DAYS = 30;
export const DEAD_LETTER_PARTITIONS = 1;
