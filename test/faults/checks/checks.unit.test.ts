import type { TopicRecord } from '../../support/topics';
import type { Evidence } from '../model/evidence';
import { NO_EVIDENCE } from '../model/evidence';
import { CHECKS } from './checks';
import { entry, event, evidence, NOW, PAYMENT, REFERENCE, sent, told } from './evidence.fixture';

test.each(Object.entries(CHECKS))('%s, when nothing happened', (_name, check) => {
  expect(check(NO_EVIDENCE)).toEqual([]);
});

const settle = `${PAYMENT}BBBB`;
const journalled = (_id: string, more: object = {}) => ({
  _id,
  state: 'closed',
  space: 'card',
  merchantAccount: 'merchant-1',
  transactionUniqueId: 'order-00000001',
  operationType: 'SALE',
  acceptedAt: NOW,
  deadline: NOW + 15_000,
  ...more,
});

function expiry(more: Partial<TopicRecord> = {}): TopicRecord {
  const data = { paymentId: PAYMENT, merchantAccount: 'merchant-1', reference: REFERENCE, expiresAt: NOW };
  const headers = { ce_type: 'ExpireAuthorization' };
  return event(1, { topic: 'card.commands.v1', value: JSON.stringify(data), headers, ...more });
}

const storedCvv = { _id: REFERENCE, keyId: 'k1', data: Buffer.from('sealed'), storedAt: new Date(NOW) };

interface Case {
  given: string;
  good: Evidence;
  bad: Evidence;
  says: RegExp;
}

const cases: Record<string, Case[]> = {
  'every success is known to the bank': [
    {
      given: 'a success without an effect',
      good: evidence({ observations: [told({ amountE4: 100_000 })], bank: [entry()] }),
      bad: evidence({ observations: [told()], bank: [] }),
      says: /SALE is a success, but the bank knows nothing of it/,
    },
    {
      given: 'a success that the bank has cancelled',
      good: evidence({ observations: [told({ status: 'ERROR', code: 3118 })], bank: [entry({ state: 'cancelled' })] }),
      bad: evidence({ observations: [told()], bank: [entry({ state: 'cancelled' })] }),
      says: /the bank knows nothing/,
    },
    {
      given: 'another amount',
      good: evidence({ observations: [told({ amountE4: 1 })], bank: [entry({ amountE4: 1 })] }),
      bad: evidence({ observations: [told({ amountE4: 1 })], bank: [entry({ amountE4: 2 })] }),
      says: /1 reported, 2 moved/,
    },
    {
      given: 'a VOID that no bank received',
      good: evidence({
        observations: [told({ type: 'AUTH3D' }), told({ reference: settle, type: 'VOID', baseReference: REFERENCE })],
      }),
      bad: evidence({
        observations: [
          told({ type: 'AUTH', status: 'PENDING' }),
          told({ reference: settle, type: 'VOID', baseReference: REFERENCE }),
        ],
      }),
      says: /VOID is a success/,
    },
  ],
  'CHECK shows all money that moved': [
    {
      given: 'a sale that CHECK calls an error',
      good: evidence({ observations: [told({ source: 'check' })], bank: [entry()] }),
      bad: evidence({ observations: [told({ source: 'check', status: 'ERROR', code: 3118 })], bank: [entry()] }),
      says: /sale of 100000 never shown by CHECK/,
    },
  ],
  'nothing is charged, settled, refunded or paid twice': [
    {
      given: 'two captures of one hold',
      good: evidence({ bank: [entry({ operation: 'authorize' }), entry({ reference: settle, operation: 'capture' })] }),
      bad: evidence({
        bank: [
          entry({ reference: settle, operation: 'capture' }),
          entry({ reference: `${PAYMENT}CCCC`, operation: 'capture' }),
        ],
      }),
      says: /settled or voided 2 times/,
    },
    {
      given: 'a hold that is captured and voided',
      good: evidence({
        bank: [
          entry({ reference: settle, operation: 'capture' }),
          entry({ reference: `${PAYMENT}CCCC`, operation: 'void', state: 'declined' }),
        ],
      }),
      bad: evidence({
        bank: [
          entry({ reference: settle, operation: 'capture' }),
          entry({ reference: `${PAYMENT}CCCC`, operation: 'void' }),
        ],
      }),
      says: /settled or voided 2 times/,
    },
    {
      given: 'two sales on one proof',
      good: evidence({
        bank: [entry({ reference: settle }), entry({ reference: `${PAYMENT}CCCC`, state: 'cancelled' })],
      }),
      bad: evidence({ bank: [entry({ reference: settle }), entry({ reference: `${PAYMENT}CCCC` })] }),
      says: /charged 2 times/,
    },
    {
      given: 'two payouts of one request',
      good: evidence({
        bank: [entry({ operation: 'payout' }), entry({ reference: 'OTHER00000000001AAAA', operation: 'payout' })],
        documents: { 'edge.journal': [journalled(REFERENCE, { space: 'payout' })] },
      }),
      bad: evidence({
        bank: [entry({ operation: 'payout' }), entry({ reference: 'OTHER00000000001AAAA', operation: 'payout' })],
        documents: {
          'edge.journal': [
            journalled(REFERENCE, { space: 'payout' }),
            journalled('OTHER00000000001AAAA', { space: 'payout' }),
          ],
        },
      }),
      says: /payout merchant-1 order-00000001 2 times/,
    },
  ],
  'banks get each request once, and no forbidden request': [
    {
      given: 'a second call',
      good: evidence({
        calls: [
          { bank: 'acquirer', kind: 'call', key: REFERENCE, at: NOW, endedAt: NOW + 10 },
          { bank: 'acquirer', kind: 'inquiry', key: REFERENCE, at: NOW + 5, endedAt: NOW + 10 },
        ],
      }),
      bad: evidence({
        calls: [0, 1].map((at) => ({ bank: 'acquirer', kind: 'call', key: REFERENCE, at, endedAt: at })),
      }),
      says: /called 2 times/,
    },
    {
      given: 'a payout resent without an inquiry',
      good: evidence({
        calls: [
          { bank: 'bank', kind: 'call', key: REFERENCE, at: NOW, endedAt: NOW + 10 },
          { bank: 'bank', kind: 'inquiry', key: REFERENCE, at: NOW + 5_000, endedAt: NOW + 5_001 },
          { bank: 'bank', kind: 'call', key: REFERENCE, at: NOW + 5_010, endedAt: NOW + 5_020 },
        ],
      }),
      bad: evidence({
        calls: [0, 1].map((at) => ({ bank: 'bank', kind: 'call', key: REFERENCE, at: NOW + at, endedAt: NOW + at })),
      }),
      says: /sent again without an inquiry/,
    },
    {
      given: 'a cancellation while the call runs',
      good: evidence({
        callTimeoutMs: 2_000,
        calls: [
          { bank: 'acquirer', kind: 'call', key: REFERENCE, at: NOW },
          { bank: 'acquirer', kind: 'cancel', key: REFERENCE, at: NOW + 4_000, endedAt: NOW + 4_001 },
        ],
      }),
      bad: evidence({
        callTimeoutMs: 2_000,
        calls: [
          { bank: 'acquirer', kind: 'call', key: REFERENCE, at: NOW, endedAt: NOW + 1_000 },
          { bank: 'acquirer', kind: 'cancel', key: REFERENCE, at: NOW + 500, endedAt: NOW + 501 },
        ],
      }),
      says: /cancelled 500 ms after its call began/,
    },
    {
      given: 'a request against the books',
      good: evidence({ bank: [entry({ state: 'declined', code: 3101 })] }),
      bad: evidence({ bank: [entry({ state: 'declined', code: 3122 })] }),
      says: /against the bank's books/,
    },
  ],
  'nothing runs after its deadline': [
    {
      given: 'a call long after the deadline',
      good: evidence({
        documents: { 'edge.journal': [journalled(REFERENCE)] },
        calls: [{ bank: 'acquirer', kind: 'call', key: REFERENCE, at: NOW + 15_100 }],
      }),
      bad: evidence({
        documents: { 'edge.journal': [journalled(REFERENCE)] },
        calls: [{ bank: 'acquirer', kind: 'call', key: REFERENCE, at: NOW + 26_000 }],
      }),
      says: /called 11000 ms after its deadline/,
    },
  ],
  'final outcomes never change': [
    {
      given: 'a success that becomes an error',
      good: evidence({ observations: [told({ toldAt: NOW }), told({ source: 'check', toldAt: NOW + 1_000 })] }),
      bad: evidence({
        observations: [told(), told({ source: 'check', status: 'ERROR', code: 3118, toldAt: NOW + 1_000 })],
      }),
      says: /answer says SALE SUCCESS 0, then check says SALE ERROR 3118/,
    },
    {
      given: 'a success that becomes PENDING again',
      good: evidence({
        observations: [told({ source: 'check', status: 'PENDING', code: 11, toldAt: NOW - 500 }), told()],
      }),
      bad: evidence({
        observations: [told(), told({ source: 'check', status: 'PENDING', code: 11, toldAt: NOW })],
      }),
      says: /then check says SALE PENDING 11/,
    },
    {
      given: 'an event with the time of a slow clock',
      good: evidence({
        observations: [
          told({ source: 'event', toldAt: NOW - 30_000 }),
          told({ source: 'check', status: 'PENDING', code: 11, toldAt: NOW - 500 }),
        ],
      }),
      bad: evidence({
        observations: [told({ source: 'event' }), told({ source: 'store', status: 'DECLINE', code: 3101 })],
      }),
      says: /DECLINE/,
    },
  ],
  'every PENDING ends': [
    {
      given: 'PENDING in the last CHECK',
      good: evidence({
        observations: [
          told({ source: 'check', toldAt: NOW }),
          told({ source: 'check', status: 'PENDING', code: 11, toldAt: NOW - 1 }),
        ],
      }),
      bad: evidence({ observations: [told({ source: 'check', status: 'PENDING', code: 11 })] }),
      says: /PENDING 11 at the end/,
    },
  ],
  'CHECK knows every accepted request': [
    {
      given: 'a denial after an answer',
      good: evidence({
        operations: [sent({ reference: REFERENCE })],
        denials: [{ merchant: 'merchant-1', uniqueId: 'order-00000001', askedAt: NOW - 90 }],
      }),
      bad: evidence({
        operations: [sent({ reference: REFERENCE })],
        denials: [{ merchant: 'merchant-1', uniqueId: 'order-00000001', askedAt: NOW + 1_000 }],
      }),
      says: /accepted 1050 ms before CHECK said 3014/,
    },
    {
      given: 'a denial of a journalled request',
      good: evidence({
        operations: [sent()],
        denials: [{ merchant: 'merchant-1', uniqueId: 'order-00000001', askedAt: NOW + 1_000 }],
      }),
      bad: evidence({
        operations: [sent()],
        documents: { 'edge.journal': [journalled(REFERENCE)] },
        denials: [{ merchant: 'merchant-1', uniqueId: 'order-00000001', askedAt: NOW + 16_000 }],
      }),
      says: /CHECK said 3014/,
    },
  ],
  'refused requests did nothing': [
    {
      given: '503 for a journalled request',
      good: evidence({
        operations: [
          sent({
            attempts: [
              { sentAt: NOW, endedAt: NOW, edge: 0, httpStatus: 503 },
              { sentAt: NOW, endedAt: NOW, edge: 1, httpStatus: 200 },
            ],
          }),
        ],
        documents: { 'edge.journal': [journalled(REFERENCE)] },
      }),
      bad: evidence({
        operations: [sent({ attempts: [{ sentAt: NOW, endedAt: NOW, edge: 0, httpStatus: 503 }] })],
        documents: { 'edge.journal': [journalled(REFERENCE)] },
      }),
      says: /refused, and in the journal/,
    },
  ],
  'every final callback is attempted and signed': [
    {
      given: 'a promise in an answer',
      good: evidence({
        operations: [sent({ reference: REFERENCE, awaitsCallback: true })],
        callbacks: [
          { merchant: 'merchant-1', reference: REFERENCE, at: NOW, status: 'SUCCESS', code: 0, signed: true },
        ],
      }),
      bad: evidence({ operations: [sent({ reference: REFERENCE, awaitsCallback: true })] }),
      says: /never attempted/,
    },
    {
      given: 'a promise in an event',
      good: evidence({ messages: [event(1, { value: JSON.stringify({ reference: REFERENCE }) })] }),
      bad: evidence({
        messages: [event(1, { value: JSON.stringify({ reference: REFERENCE, callbackUrl: 'https://localhost' }) })],
      }),
      says: /never attempted/,
    },
    {
      given: 'a wrong signature',
      good: evidence({}),
      bad: evidence({
        callbacks: [
          { merchant: 'merchant-1', reference: REFERENCE, at: NOW, status: 'SUCCESS', code: 0, signed: false },
        ],
      }),
      says: /wrong checkSum/,
    },
  ],
  'events are in sequence and complete': [
    {
      given: 'a gap',
      good: evidence({ messages: [event(1), event(2), event(1), event(3)] }),
      bad: evidence({ messages: [event(1), event(3)] }),
      says: /3 comes after 1/,
    },
    {
      given: 'two events of one version',
      good: evidence({ messages: [event(1), event(2), event(2)] }),
      bad: evidence({ messages: [event(1), event(2), event(2, { id: 'other' })] }),
      says: /2 is event-2 and other/,
    },
    {
      given: 'a last event that was not published',
      good: evidence({ messages: [event(1)], documents: { 'cards.payments': [{ _id: PAYMENT, eventSeq: 1 }] } }),
      bad: evidence({ messages: [event(1)], documents: { 'cards.payments': [{ _id: PAYMENT, eventSeq: 2 }] } }),
      says: /published up to 1 of 2/,
    },
    {
      given: 'a record without published events',
      good: evidence({ documents: { 'payouts.payouts': [{ _id: REFERENCE, eventSeq: 0 }] } }),
      bad: evidence({ documents: { 'payouts.payouts': [{ _id: REFERENCE, eventSeq: 3 }] } }),
      says: /published up to 0 of 3/,
    },
  ],
  'nothing is left behind': [
    {
      given: 'an open journal entry',
      good: evidence({ documents: { 'edge.journal': [journalled(REFERENCE)] } }),
      bad: evidence({ documents: { 'edge.journal': [journalled(REFERENCE, { state: 'open' })] } }),
      says: /entry open/,
    },
    {
      given: 'an outbox',
      good: evidence({ documents: { 'cards.payments': [{ _id: PAYMENT, outbox: [], eventSeq: 0 }] } }),
      bad: evidence({ documents: { 'cards.payments': [{ _id: PAYMENT, outbox: [{}], eventSeq: 0 }] } }),
      says: /1 in the outbox/,
    },
    {
      given: 'a lease',
      good: evidence({ documents: { 'payouts.payouts': [{ _id: REFERENCE }] } }),
      bad: evidence({ documents: { 'payouts.payouts': [{ _id: REFERENCE, resolveAt: NOW }] } }),
      says: /resolveAt is set/,
    },
    {
      given: 'a retry',
      good: evidence({ documents: { 'callbacks.deliveries': [{ _id: 'd', progress: { state: 'delivered' } }] } }),
      bad: evidence({ documents: { 'callbacks.deliveries': [{ _id: 'd', progress: { state: 'pending' } }] } }),
      says: /not delivered yet/,
    },
    {
      given: 'an overdue hold',
      good: evidence({ documents: { 'expiry.deadlines': [{ _id: 'e', dueAt: NOW + 1 }, { _id: 'f' }] } }),
      bad: evidence({ documents: { 'expiry.deadlines': [{ _id: 'e', dueAt: NOW - 1 }] } }),
      says: /due/,
    },
    {
      given: 'a hold that was never voided',
      good: evidence({
        documents: {
          'cards.payments': [{ _id: PAYMENT, state: { kind: 'authorized', hold: { expiresAt: NOW + 1 } } }],
        },
      }),
      bad: evidence({
        documents: {
          'cards.payments': [{ _id: PAYMENT, state: { kind: 'authorized', hold: { expiresAt: NOW - 1 } } }],
        },
      }),
      says: /still held after its end/,
    },
    {
      given: 'unread messages',
      good: evidence({ lags: [{ group: 'payout', topic: 'payout.commands.v1', partition: 3, lag: 0 }] }),
      bad: evidence({ lags: [{ group: 'payout', topic: 'payout.commands.v1', partition: 3, lag: 2 }] }),
      says: /payout is 2 behind/,
    },
    {
      given: 'a dead letter',
      good: evidence({ messages: [event(1)] }),
      bad: evidence({ messages: [event(1, { topic: 'card.commands.dlq.v1' })] }),
      says: /card.commands.dlq.v1/,
    },
  ],
  'card data stays in the vault': [
    {
      given: 'a card number in a log, in base64',
      good: evidence({
        secrets: { pans: ['4929421234560013'], cvvs: ['0739'] },
        logs: [{ name: 'edge', text: '492942******0013' }],
      }),
      bad: evidence({
        secrets: { pans: ['4929421234560013'], cvvs: ['0739'] },
        logs: [{ name: 'edge', text: Buffer.from('card 4929421234560013').toString('base64') }],
      }),
      says: /a card number in the log of edge \(base64/,
    },
    {
      given: 'a CVV in a collection',
      good: evidence({ secrets: { pans: [], cvvs: ['0739'] }, documents: { 'cards.payments': [{ _id: '10739' }] } }),
      bad: evidence({
        secrets: { pans: [], cvvs: ['0739'] },
        documents: { 'cards.payments': [{ _id: 'x', cvv: '0739' }] },
      }),
      says: /a CVV in cards.payments/,
    },
    {
      given: 'a card number in a topic, in hex',
      good: evidence({ secrets: { pans: ['4929421234560013'], cvvs: [] }, messages: [event(1)] }),
      bad: evidence({
        secrets: { pans: ['4929421234560013'], cvvs: [] },
        messages: [event(1, { value: Buffer.from('4929421234560013').toString('hex') })],
      }),
      says: /card.events.v1 \(hex\)/,
    },
  ],
  'the last release can read everything': [
    {
      given: 'a message that lacks a field',
      good: evidence({ messages: [expiry()] }),
      bad: evidence({ messages: [expiry({ value: '{}', key: PAYMENT })] }),
      says: /ExpireAuthorization must have required property 'expiresAt'/,
    },
    {
      given: 'a message with another key',
      good: evidence({ messages: [expiry()] }),
      bad: evidence({ messages: [expiry({ key: REFERENCE })] }),
      says: /card.commands.v1: the key of a ExpireAuthorization is not its paymentId/,
    },
    {
      given: 'a document that lacks a field',
      good: evidence({ documents: { 'vault.cvvs': [storedCvv] } }),
      bad: evidence({ documents: { 'vault.cvvs': [{ ...storedCvv, storedAt: 'yesterday' }] } }),
      says: /vault.cvvs.storedAt .* \(PAYMENT000000001AAAA\)/,
    },
    {
      given: 'a collection without a schema',
      good: evidence({ documents: { 'edge.journal': [] } }),
      bad: evidence({ documents: { 'edge.diary': [] } }),
      says: /edge.diary has no schema/,
    },
  ],
};

test('every check has a case in which it fails', () => {
  expect(Object.keys(cases)).toEqual(Object.keys(CHECKS));
});

describe.each(Object.entries(cases))('%s', (name, own) => {
  const check = CHECKS[name] ?? (() => ['no such check']);

  test.each(own)('given $given', ({ good, bad, says }) => {
    expect(check(good)).toEqual([]);
    expect(check(bad).join('\n')).toMatch(says);
  });
});
