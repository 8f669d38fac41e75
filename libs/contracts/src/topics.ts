const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Topic {
  /** Without prefix; ends in the major version of its messages. */
  readonly name: string;
  readonly retentionMs: number;
  /** Where messages of it go that can never be processed. Topics that only outsiders consume have none. */
  readonly deadLetters?: string;
}

function consumed(name: string, retentionMs: number): Topic {
  return { name: `${name}.v1`, retentionMs, deadLetters: `${name}.dlq.v1` };
}

/** Every topic of the system. Keys are payment or payout ids: all about one payment is in order on one partition. */
export const topics = {
  cardCommands: consumed('card.commands', 7 * DAY_MS),
  cardEvents: consumed('card.events', 30 * DAY_MS),
  threedsCommands: consumed('threeds.commands', 7 * DAY_MS),
  threedsEvents: consumed('threeds.events', 30 * DAY_MS),
  payoutCommands: consumed('payout.commands', 7 * DAY_MS),
  payoutEvents: consumed('payout.events', 30 * DAY_MS),
  callbackEvents: { name: 'callback.events.v1', retentionMs: 30 * DAY_MS },
  /** Short cuts only: the store is the truth, so ten minutes are plenty. */
  gatewayReplies: { name: 'gateway.replies.v1', retentionMs: HOUR_MS / 6 },
} as const satisfies Record<string, Topic>;

export type TopicName = keyof typeof topics;

/** Of every topic but those of dead letters, unless the installation was given more. */
export const DEFAULT_PARTITIONS = 12;

/** Dead letters wait for an operator, who may be on holiday. */
export const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS;
export const DEAD_LETTER_PARTITIONS = 1;
