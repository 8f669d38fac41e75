import { breaksBetween } from './breaks';
import type { Schema } from './schema';
import type { Snapshot } from './snapshot';
import { committedSnapshot } from './snapshot';

const last = committedSnapshot();

/** A schema that may be changed. */
type Draft = { -readonly [K in keyof Schema]: Schema[K] } & { properties: Record<string, Draft>; required: string[] };
type DraftSnapshot = {
  topics: Record<string, { key: string; partitions: number; retentionMs: number; deadLetters?: string }>;
  messages: Record<string, Draft>;
  queries: Record<string, { path: string; askers: string[]; parameters: Draft; answer: Draft }>;
  documents: Record<string, Draft>;
  rights: Record<string, Record<string, string[]>>;
};

function planted(change: (draft: DraftSnapshot) => void): string[] {
  const draft = structuredClone(last) as unknown as DraftSnapshot;
  change(draft);
  return breaksBetween(last, draft as unknown as Snapshot);
}

/** A field by its path. */
function at(schema: Draft | undefined, ...path: string[]): Draft {
  const found = path.reduce<Draft | undefined>((draft, name) => draft?.properties[name], schema);
  if (found === undefined) throw new Error(`no field ${path.join('.')}`);
  return found;
}

function drop(schema: Draft, name: string): void {
  delete schema.properties[name];
  schema.required = schema.required.filter((one) => one !== name);
}

const CHARGE = 'card.commands.v1/ChargeCard';
const AUTHORIZED = 'card.events.v1/CardAuthorized';
const REPLIED = 'gateway.replies.v1/OperationReplied';

test('a snapshot does not break itself, and may grow', () => {
  expect(breaksBetween(last, last)).toEqual([]);
  const grown = planted(({ topics, messages, queries, documents, rights }) => {
    at(messages[CHARGE]).properties['purpose'] = { type: 'string' } as Draft;
    at(documents['cards.payments']).properties['purpose'] = { type: 'string' } as Draft;
    at(queries['operation']?.answer).properties['purpose'] = { type: 'string' } as Draft;
    messages['card.events.v1/CardBlessed'] = structuredClone(at(messages[AUTHORIZED]));
    documents['cards.blessings'] = { type: 'object' } as Draft;
    rights['blessing'] = { 'cards.payments': ['find'] };
    rights['audit']!['cards'] = ['find'];
    rights['privacy']!['cards'] = ['find', 'update'];
    delete rights['privacy']!['cards.payments'];
    topics['blessings.v1'] = { key: 'paymentId', partitions: 12, retentionMs: 1 };
  });
  expect(grown).toEqual([]);
});

const BREAKS: [what: string, change: (draft: DraftSnapshot) => void, sentence: string][] = [
  [
    'a removed field of an event',
    ({ messages }) => drop(at(messages[AUTHORIZED]), 'expiresAt'),
    'CardAuthorized.expiresAt is gone: readers of the last release may need it.',
  ],
  [
    'a new required field of a command',
    ({ messages }) => {
      at(messages[CHARGE]).properties['purpose'] = { type: 'string' } as Draft;
      at(messages[CHARGE]).required.push('purpose');
    },
    'ChargeCard.purpose is new and required: what the last release wrote lacks it.',
  ],
  [
    'an optional field that becomes required',
    ({ messages }) => void at(messages[CHARGE], 'customer').required.push('phone'),
    'ChargeCard.customer.phone has become required: what the last release wrote may lack it.',
  ],
  [
    'a required field that becomes optional',
    ({ messages }) => {
      const charge = at(messages[CHARGE]);
      charge.required = charge.required.filter((name) => name !== 'deadline');
    },
    'ChargeCard.deadline has become optional: readers of the last release require it.',
  ],
  [
    'another type',
    ({ messages }) => void (at(messages[CHARGE], 'amountE4').type = 'string'),
    'ChargeCard.amountE4 was integer and is string.',
  ],
  [
    'a value less in an enumeration',
    ({ messages }) => {
      const status = at(messages[REPLIED], 'status');
      status.anyOf = (status.anyOf ?? []).filter(({ const: value }) => value !== 'pending');
    },
    'OperationReplied.status no longer accepts "pending", which the last release may have written.',
  ],
  [
    'a value more in an enumeration',
    ({ messages }) => {
      const status = at(messages[REPLIED], 'status');
      status.anyOf = [...(status.anyOf ?? []), { const: 'frozen', type: 'string' }];
    },
    'OperationReplied.status accepts "frozen", which readers of the last release do not know.',
  ],
  [
    'another constant',
    ({ documents }) => void (at(documents['cards.payments'], 'checkoutEnded').const = 'yes'),
    'cards.payments.checkoutEnded was true and is "yes".',
  ],
  [
    'a narrower bound',
    ({ messages }) => void (at(messages[CHARGE], 'customer', 'email').maxLength = 64),
    'ChargeCard.customer.email is narrower than what the last release may have written: maxLength was 255 and is 64.',
  ],
  [
    'a wider bound',
    ({ messages }) => void (at(messages[CHARGE], 'transactionUniqueId').maxLength = 90),
    'ChargeCard.transactionUniqueId is wider than readers of the last release accept: maxLength was 45 and is 90.',
  ],
  [
    'another pattern',
    ({ messages }) => void (at(messages[AUTHORIZED], 'paymentId').pattern = '^[0-9a-z]{16}$'),
    'CardAuthorized.paymentId has another pattern: it was "^[0-9A-Z]{16}$" and is "^[0-9a-z]{16}$".',
  ],
  [
    'another key',
    ({ topics }) => void (topics['card.events.v1']!.key = 'reference'),
    'The key of card.events.v1 was paymentId and is reference: order breaks.',
  ],
  [
    'another number of partitions',
    ({ topics }) => void (topics['card.commands.v1']!.partitions = 24),
    'card.commands.v1 had 12 partitions and has 24: keys move between them.',
  ],
  [
    'messages that are kept for less time',
    ({ topics }) => void (topics['payout.events.v1']!.retentionMs = 86_400_000),
    'payout.events.v1 keeps messages for 1 days instead of 30.',
  ],
  [
    'a message on another topic',
    ({ messages }) => {
      messages['card.events.v2/CardAuthorized'] = at(messages[AUTHORIZED]);
      delete messages[AUTHORIZED];
    },
    'CardAuthorized moved from card.events.v1 to card.events.v2, where readers of the last release do not look.',
  ],
  [
    'a removed topic',
    ({ topics }) => void delete topics['callback.events.v1'],
    'The topic callback.events.v1 is gone.',
  ],
  [
    'a state of a document that the last release does not know',
    ({ documents }) => {
      const state = at(documents['payouts.payouts'], 'state');
      const paused = { type: 'object', properties: { kind: { const: 'paused' } }, required: ['kind'] };
      state.anyOf = [...(state.anyOf ?? []), paused];
    },
    'payouts.payouts.state accepts kind "paused", which readers of the last release do not know.',
  ],
  [
    'a removed field in one state of a document',
    ({ documents }) => {
      const states = at(documents['payouts.payouts'], 'state').anyOf as Draft[];
      drop(states.find(({ properties }) => properties['kind']?.const === 'held') as Draft, 'reason');
    },
    'payouts.payouts.state (kind "held").reason is gone: readers of the last release may need it.',
  ],
  [
    'an answer without a field',
    ({ queries }) => drop(at(queries['operation']?.answer), 'status'),
    'operation answer.status is gone: readers of the last release may need it.',
  ],
  [
    'a query that one service may not ask any more',
    ({ queries }) => void (queries['payout']!.askers = ['api-edge']),
    'The query payout refuses callback-dispatcher, which asks it in the last release.',
  ],
  [
    'a right that a user loses in one collection',
    ({ rights }) => void (rights['privacy']!['cards.payments'] = ['find']),
    'privacy may not update in cards.payments any more, which the last release may need.',
  ],
  [
    'a right that a service loses in its own database',
    ({ rights }) =>
      void (rights['payout']!['payouts'] = rights['payout']!['payouts']!.filter((one) => one !== 'collMod')),
    'payout may not collMod in payouts any more, which the last release may need.',
  ],
];

test.each(BREAKS)('%s is caught', (_what, change, sentence) => {
  expect(planted(change)).toEqual([sentence]);
});
