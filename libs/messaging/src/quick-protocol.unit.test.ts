import fc from 'fast-check';
import type { KafkaMessage, Message } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import type { FetchArguments } from './quick-fetch';
import { decodeFetch, encodeFetch, quickenFetches } from './quick-fetch';
import { encodeProduce, produceRequest } from './quick-produce';
import { partitionOfKey } from './partition-of-key';

/** kafkajs' own encoders and decoders, which ours must agree with. */
interface Encoder {
  readonly buffer: Buffer;
  writeInt8(value: number): Encoder;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: number | string): Encoder;
  writeString(value: string): Encoder;
  writeArray(values: readonly Encoder[]): Encoder;
  writeBytes(value: Buffer): Encoder;
}
type Requester = (args: object) => { encode(): Promise<Encoder> };
const actual = <T extends object>(path: string): T => jest.requireActual<T>(`kafkajs/src/protocol/${path}`);
const EncoderOf = actual<new () => Encoder>('encoder');
const produceV7 = actual<Requester>('requests/produce/v7/request');
const fetchV11 = actual<Requester>('requests/fetch/v11/request');
// Kept from before the patch, which replaces no module.
const { decode: decodeByKafkajs } = actual<{ decode: typeof decodeFetch }>('requests/fetch/v11/response');
const { RecordBatch } = actual<{ RecordBatch: (batch: object) => Promise<Encoder> }>('recordBatch/v0');
const recordOf = actual<(message: object) => Encoder>('recordBatch/record/v0');
const { requests } = actual<{ requests: Record<'Fetch' | 'Produce', typeof produceRequest> }>('requests');

const NOW = 1_795_000_000_123;
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.constantFrom('', 'ce_id', '€', '__proto__'));
const part: fc.Arbitrary<Buffer | string> = fc.oneof(text, bytes);
const bigPart = fc.uint8Array({ minLength: 9_000, maxLength: 9_100 }).map((array) => Buffer.from(array));
const optional = (one: fc.Arbitrary<Buffer | string>): fc.Arbitrary<Buffer | string | null> =>
  fc.option(one, { nil: null });
/**
 * kafkajs looks for an earlier value of a header by `headers[name]`, so it puts what each object inherits
 * (`toString`, `__proto__`) before the value. Ours does not: such names have a test of their own.
 */
const name = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((one) => !(one in Object.prototype));
const message: fc.Arbitrary<Message> = fc.record({
  key: optional(part),
  value: optional(fc.oneof<fc.Arbitrary<Buffer | string>[]>(part, part, bigPart)),
  headers: fc.dictionary(name, fc.oneof(part, fc.array(part, { maxLength: 3 })), { maxKeys: 12 }),
});
const topicName = fc.stringMatching(/^[a-z.]{1,30}$/);
const partition = fc.nat(100);
const topicsOf = <T>(one: fc.Arbitrary<T>) =>
  fc.array(fc.record({ topic: topicName, partitions: fc.array(one, { minLength: 1, maxLength: 4 }) }), {
    maxLength: 3,
  });

beforeAll(() => {
  quickenFetches();
  quickenFetches();
});
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

test('a produce request is byte for byte that of kafkajs', async () => {
  const batch = fc.record({ partition, messages: fc.array(message, { minLength: 1, maxLength: 5 }) });
  await fc.assert(
    fc.asyncProperty(topicsOf(batch), fc.nat(30_000), async (topicData, timeout) => {
      const args = { acks: -1, timeout, topicData };
      const expected = await produceV7(args).encode();
      expect(encodeProduce(args, NOW).buffer.equals(expected.buffer)).toBe(true);
      const { request } = produceRequest.protocol({ version: 7 })(args);
      expect((await request.encode()).buffer.equals(expected.buffer)).toBe(true);
    }),
  );
});

test('other versions of a request are left to kafkajs', () => {
  for (const version of [3, 6]) {
    expect(produceRequest.protocol({ version })).toBe(requests.Produce.protocol({ version }));
  }
  const [older, newest] = [10, 11].map((version) =>
    requests.Fetch.protocol({ version })({ maxWaitTime: 1, minBytes: 1, maxBytes: 1, topics: [] }),
  );
  expect(older?.response.decode).not.toBe(decodeFetch);
  expect(newest?.response.decode).toBe(decodeFetch);
  expect(newest?.requestTimeout).toBe(101);
});

test('a fetch request is byte for byte that of kafkajs', async () => {
  const wanted = fc.record({
    partition,
    fetchOffset: fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }).map(String),
    maxBytes: fc.nat(),
  });
  const sizes = { maxWaitTime: fc.nat(), minBytes: fc.nat(), maxBytes: fc.nat() };
  const rest = { isolationLevel: fc.constantFrom(0, 1), rackId: text, topics: topicsOf(wanted) };
  await fc.assert(
    fc.asyncProperty(fc.record({ ...sizes, ...rest }), async (args: FetchArguments) => {
      const expected = await fetchV11({ replicaId: -1, ...args }).encode();
      expect(encodeFetch(args).buffer.equals(expected.buffer)).toBe(true);
      const { request } = requests.Fetch.protocol({ version: 11 })(args);
      expect((await request.encode()).buffer.equals(expected.buffer)).toBe(true);
    }),
  );
});

interface StoredBatch {
  readonly messages: readonly Message[];
  readonly firstOffset: number;
  readonly firstTimestamp: number;
  readonly deltas: readonly number[];
  readonly compression: number;
  readonly transactional: boolean;
  /** The broker replaced the timestamps. */
  readonly appendTime: boolean;
}

const batch: fc.Arbitrary<StoredBatch> = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  firstOffset: fc.maxSafeNat().map((offset) => Math.min(offset, Number.MAX_SAFE_INTEGER - 10)),
  firstTimestamp: fc.oneof(fc.constantFrom(NOW, -1), fc.nat()),
  deltas: fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { minLength: 4, maxLength: 4 }),
  compression: fc.constantFrom(0, 0, 0, 1),
  transactional: fc.constantFrom(false, false, false, true),
  appendTime: fc.boolean(),
});

async function bytesOf({ messages, deltas, appendTime, ...rest }: StoredBatch): Promise<Buffer> {
  const records = messages.map((one, offsetDelta) =>
    recordOf({ ...one, offsetDelta, timestampDelta: deltas[offsetDelta] }),
  );
  const lastOffsetDelta = records.length - 1;
  const { buffer } = await RecordBatch({ ...rest, maxTimestamp: NOW, lastOffsetDelta, records });
  if (appendTime) buffer.writeUInt8(buffer.readUInt8(22) | 0x08, 22);
  return buffer;
}

interface StoredPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly batches: readonly StoredBatch[];
  /** Bytes that the broker left out at the end, but never of the first batch. */
  readonly cut: number;
  readonly aborted: readonly { producerId: string; firstOffset: string }[];
  readonly replica: number;
}

const id = fc.nat().map(String);
const stored: fc.Arbitrary<StoredPartition> = fc.record({
  partition,
  errorCode: fc.constantFrom(0, 0, 0, 1, 6),
  batches: fc.array(batch, { maxLength: 3 }),
  cut: fc.oneof(fc.constant(0), fc.nat(100)),
  aborted: fc.oneof(fc.constant([]), fc.array(fc.record({ producerId: id, firstOffset: id }), { maxLength: 2 })),
  replica: fc.constantFrom(-1, -1, 2),
});

async function encodePartition({ aborted, batches, cut, ...own }: StoredPartition): Promise<Encoder> {
  const stored = await Promise.all(batches.map(bytesOf));
  const records = Buffer.concat(stored);
  const end = Math.max(stored[0]?.length ?? 0, records.length - cut);
  return new EncoderOf()
    .writeInt32(own.partition)
    .writeInt16(own.errorCode)
    .writeInt64(10)
    .writeInt64('9007199254740993')
    .writeInt64(-1)
    .writeArray(aborted.map((one) => new EncoderOf().writeInt64(one.producerId).writeInt64(one.firstOffset)))
    .writeInt32(own.replica)
    .writeBytes(records.subarray(0, end));
}

async function responseOf(topics: readonly { topic: string; partitions: readonly StoredPartition[] }[]) {
  const encoded = topics.map(async ({ topic, partitions }) =>
    new EncoderOf().writeString(topic).writeArray(await Promise.all(partitions.map(encodePartition))),
  );
  return new EncoderOf()
    .writeInt32(7)
    .writeInt16(0)
    .writeInt32(3)
    .writeArray(await Promise.all(encoded)).buffer;
}

function responseOfMessage(message: Message): Promise<Buffer> {
  const one: StoredBatch = {
    messages: [message],
    firstOffset: 5,
    firstTimestamp: NOW,
    deltas: [0],
    compression: 0,
    transactional: false,
    appendTime: false,
  };
  return responseOf([
    { topic: 't', partitions: [{ partition: 0, errorCode: 0, batches: [one], cut: 0, aborted: [], replica: -1 }] },
  ]);
}

/** The fields that anything reads after a fetch. kafkajs looks at a batch's context only if transactions were aborted. */
function comparable({ key, value, headers, offset, timestamp, attributes, ...rest }: KafkaMessage) {
  const { isControlRecord = false } = rest as { isControlRecord?: boolean };
  const parts = Object.entries(headers ?? {}).map(([name, part]) => [
    name,
    [part].flat().map(asText),
    Array.isArray(part),
  ]);
  return { key: asText(key), value: asText(value), headers: parts, offset, timestamp, attributes, isControlRecord };
}

/** jest compares buffers byte by byte, through their iterators: that took ten times as long as all the rest. */
function asText(part: unknown): unknown {
  return Buffer.isBuffer(part) ? `bytes ${part.toString('hex')}` : part;
}

test('a fetch response is read as kafkajs reads it, without the partitions that brought nothing', async () => {
  let dropped = 0;
  await fc.assert(
    fc.asyncProperty(topicsOf(stored), async (topics) => {
      const payload = await responseOf(topics);
      const { responses: all, ...expected } = await decodeByKafkajs(payload);
      const { responses, ...ours } = await decodeFetch(payload);
      expect(ours).toEqual(expected);
      const kept = all.flatMap(({ topicName: topic, partitions }) => {
        const filled = partitions.filter(
          ({ errorCode, messages, preferredReadReplica }) =>
            messages.length > 0 || errorCode !== 0 || preferredReadReplica !== -1,
        );
        dropped += partitions.length - filled.length;
        return filled.length === 0 ? [] : [{ topicName: topic, partitions: filled }];
      });
      expect(shown(responses)).toEqual(shown(kept));
    }),
  );
  expect(dropped).toBeGreaterThan(0);
});

function shown(responses: Awaited<ReturnType<typeof decodeFetch>>['responses']) {
  return responses.map(({ topicName: topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ messages, ...rest }) => ({ ...rest, messages: messages.map(comparable) })),
  }));
}

test.each([...Object.getOwnPropertyNames(Object.prototype), 'ce_id'])('a header may have the name %s', async (name) => {
  const headers = Object.fromEntries([[name, ['first', 'second']]]);
  const payload = await responseOfMessage({ key: null, value: 'v', headers });
  const { responses } = await decodeFetch(payload);
  const [message] = responses[0]?.partitions[0]?.messages ?? [];
  expect(Object.entries(message?.headers ?? {}).map(([own, values]) => [own, [values].flat().map(String)])).toEqual([
    [name, ['first', 'second']],
  ]);
});

test('a message does not keep the response in memory', async () => {
  const payload = await responseOfMessage({ key: 'k', value: 'v'.repeat(100), headers: { h: 'x' } });
  const { responses } = await decodeFetch(payload);
  const message = responses[0]?.partitions[0]?.messages[0];
  payload.fill(0);
  expect(String(message?.value)).toBe('v'.repeat(100));
  expect(String(message?.headers?.['h'])).toBe('x');
  expect(String(message?.key)).toBe('k');
});

test('every key has the partition that kafkajs gives it', () => {
  const partitioner = Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(part, fc.integer({ min: 1, max: 200 }), (key, partitions) => {
      const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionId, leader: 1 }));
      const expected = partitioner({
        topic: 't',
        partitionMetadata: partitionMetadata as Parameters<typeof partitioner>[0]['partitionMetadata'],
        message: { key, value: null },
      });
      expect(partitionOfKey(key, partitions)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});
