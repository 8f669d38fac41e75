import { Type } from '@sinclair/typebox';
import type { KafkaMessage } from 'kafkajs';
import { declareMessage } from '@gateway/contracts';
import { runWithTrace } from '@gateway/service-kit';
import type { EncodedMessage } from './envelope';
import { decode, encode, headerOf, InvalidMessageError } from './envelope';

const Counted = declareMessage('cardCommands', 'Counted', 'For tests', Type.Object({ count: Type.Integer() }));
const ORIGIN = { topic: 'card.commands.v1', partition: 3 };

/** As kafkajs hands it over: header values are Buffers. */
function arrived({ key, value, headers }: EncodedMessage): KafkaMessage {
  const buffers = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const);
  return {
    key: Buffer.from(key),
    value,
    headers: Object.fromEntries(buffers),
    offset: '42',
    timestamp: '1700000000000',
    attributes: 0,
  };
}

function without(message: KafkaMessage, header: string): KafkaMessage {
  const { [header]: _gone, ...headers } = message.headers ?? {};
  return { ...message, headers } as KafkaMessage;
}

test('a message arrives as it was sent', () => {
  const encoded = encode(
    {
      declaration: Counted,
      data: { count: 7 },
      key: 'P1',
      id: 'id-1',
      timeMs: 1_700_000_000_000,
      subject: 'R1',
      correlationId: 'c-1',
      causationId: 'cause-1',
      aggregateVersion: 4,
      traceparent: '00-aa-bb-01',
      replyPartition: 0,
    },
    'card-processing',
  );
  expect(encoded.headers['content-type']).toBe('application/json');
  const { headers, ...envelope } = decode(Counted, ORIGIN, arrived(encoded));
  expect(envelope).toEqual({
    id: 'id-1',
    type: 'Counted',
    source: 'card-processing',
    time: '2023-11-14T22:13:20.000Z',
    subject: 'R1',
    correlationId: 'c-1',
    causationId: 'cause-1',
    aggregateVersion: 4,
    traceparent: '00-aa-bb-01',
    replyPartition: 0,
    data: { count: 7 },
    key: 'P1',
    topic: 'card.commands.v1',
    partition: 3,
    offset: '42',
  });
  expect(headerOf(headers, 'ce_specversion')).toBe('1.0');
});

test('missing ids are generated or taken from the trace', () => {
  const trace = { correlationId: 'c-2', traceparent: '00-cc-dd-01' };
  const encoded = runWithTrace(trace, () => encode({ declaration: Counted, data: { count: 1 }, key: 'P2' }, 's'));
  const envelope = decode(Counted, ORIGIN, arrived(encoded));
  expect(envelope.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(envelope).toMatchObject({ correlationId: 'c-2', traceparent: '00-cc-dd-01', subject: 'P2' });
  expect(envelope).not.toHaveProperty('causationId');
  expect(envelope).not.toHaveProperty('replyPartition');
  expect(encoded).not.toHaveProperty('partition');
});

test('data that breaks its schema is not sent', () => {
  const broken = { declaration: Counted, data: { count: 'x' as unknown as number }, key: 'P' };
  expect(() => encode(broken, 's')).toThrow(InvalidMessageError);
});

describe('a message is refused', () => {
  const good = arrived(encode({ declaration: Counted, data: { count: 1 }, key: 'P' }, 's'));
  test.each([
    ['without id', without(good, 'ce_id'), 'header ce_id is missing'],
    ['without source', without(good, 'ce_source'), 'header ce_source is missing'],
    [
      'of another version',
      { ...good, headers: { ...good.headers, ce_specversion: '0.3' } },
      'ce_specversion is not 1.0',
    ],
    ['with a broken number', { ...good, headers: { ...good.headers, reply_partition: '-1' } }, 'reply_partition'],
    ['without value', { ...good, value: null }, 'its value is not JSON'],
    ['with broken data', { ...good, value: Buffer.from('{"count":"many"}') }, 'Counted/count must be integer'],
  ])('%s', (_name, message, text) => {
    expect(() => decode(Counted, ORIGIN, message as KafkaMessage)).toThrow(text);
    expect(() => decode(Counted, ORIGIN, message as KafkaMessage)).toThrow(InvalidMessageError);
  });

  test('and the error does not quote it', () => {
    const secret = { ...good, value: Buffer.from('4111111111111111 is not JSON') } as KafkaMessage;
    expect(() => decode(Counted, ORIGIN, secret)).not.toThrow(/4111/);
  });
});

test('a header that is null counts as absent', () => {
  const message = arrived(encode({ declaration: Counted, data: { count: 1 }, key: 'P', traceparent: '00-a' }, 's'));
  const withNulls = { ...message.headers, traceparent: null, ce_subject: [null, Buffer.from('S')], ce_time: [null] };
  const envelope = decode(Counted, ORIGIN, { ...message, headers: withNulls } as unknown as KafkaMessage);
  expect(envelope).toMatchObject({ subject: 'S', time: '2023-11-14T22:13:20.000Z' });
  expect(envelope).not.toHaveProperty('traceparent');
  const withoutId = { ...message, headers: { ...message.headers, ce_id: null } } as unknown as KafkaMessage;
  expect(() => decode(Counted, ORIGIN, withoutId)).toThrow('header ce_id is missing');
});

test('fields of a later release are kept', () => {
  const later = arrived(encode({ declaration: Counted, data: { count: 1 }, key: 'P' }, 's'));
  later.value = Buffer.from('{"count":1,"colour":"red"}');
  expect(decode(Counted, ORIGIN, later).data).toEqual({ count: 1, colour: 'red' });
});
