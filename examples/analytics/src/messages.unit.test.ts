import type { KafkaMessage } from 'kafkajs';
import { readMessage } from './messages';

const HEADERS = {
  ce_id: 'id-1',
  ce_type: 'CardCharged',
  ce_source: 'card-processing',
  ce_time: '2026-11-22T14:05:00.123Z',
  ce_subject: 'PAYMENT',
  ce_aggregateversion: '3',
  ce_correlationid: 'session',
  traceparent: '00-1-2-01',
};

function message(value: string | Buffer | null, headers: Record<string, string | undefined> = {}): KafkaMessage {
  const all = Object.entries({ ...HEADERS, ...headers }).filter(([, text]) => text !== undefined);
  return {
    key: Buffer.from('PAYMENT'),
    value: value === null ? null : Buffer.from(value),
    timestamp: '1000',
    attributes: 0,
    offset: '17',
    headers: Object.fromEntries(all.map(([name, text]) => [name, Buffer.from(text ?? '')])),
  };
}

test('an event, with what has no column kept as it came', () => {
  const data = '{ "amountE4": 100000, "later": {"field": [1.50]} }';
  expect(readMessage(message(data))).toEqual({
    offset: 17n,
    id: 'id-1',
    type: 'CardCharged',
    source: 'card-processing',
    timeMs: Date.parse('2026-11-22T14:05:00.123Z'),
    subject: 'PAYMENT',
    version: 3n,
    correlationId: 'session',
    causationId: undefined,
    headers: '{"traceparent":"00-1-2-01"}',
    data,
  });
});

test('without a time, that of Kafka counts', () => {
  expect(readMessage(message('{}', { ce_time: undefined }))).toMatchObject({ timeMs: 1_000 });
});

test.each([
  ['{', {}, 'the value is not JSON'],
  [null, {}, 'the value is not JSON'],
  [Buffer.from([0x7b, 0xff, 0x7d]), {}, 'the value is not JSON'],
  ['{"text": "\\ud800"}', {}, 'the value is not JSON'],
  ['{"\\ud800": 1}', {}, 'the value is not JSON'],
  ['{"number": 1e999}', {}, 'the value is not JSON'],
  ['['.repeat(200_000), {}, 'the value is not JSON'],
  ['[]', {}, 'the value is not a JSON object'],
  ['null', {}, 'the value is not a JSON object'],
  ['{"amountE4": 0.5}', {}, 'amountE4 is not a whole number of 1/10000'],
  ['{"amountE4": "100000"}', {}, 'amountE4 is not a whole number of 1/10000'],
  ['{"feeE4": -1}', {}, 'feeE4 is not a whole number of 1/10000'],
  ['{"amountE4": 9007199254740993}', {}, 'amountE4 is not a whole number of 1/10000'],
  ['{}', { ce_id: undefined }, 'header ce_id is missing'],
  ['{}', { ce_type: '' }, 'header ce_type is missing'],
  ['{}', { ce_subject: undefined }, 'header ce_subject is missing'],
  ['{}', { ce_aggregateversion: undefined }, 'header ce_aggregateversion is missing'],
  ['{}', { ce_aggregateversion: '0' }, 'header ce_aggregateversion is not a number from 1 to 1000000'],
  ['{}', { ce_aggregateversion: '1e6' }, 'header ce_aggregateversion is not a number from 1 to 1000000'],
  ['{}', { ce_aggregateversion: '9999999' }, 'header ce_aggregateversion is not a number from 1 to 1000000'],
])('%.40s with %j is kept as unreadable: %s', (value, headers, problem) => {
  const original = message(value, headers);
  expect(readMessage(original)).toMatchObject({ offset: 17n, problem, key: original.key, value: original.value });
});
