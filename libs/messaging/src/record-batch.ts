import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import crc32C from 'kafkajs/src/protocol/recordBatch/crc32C';
import { ByteReader } from './byte-reader';
import type { ByteWriter } from './byte-writer';
import { sizeOfText, sizeOfVarint } from './byte-writer';

/**
 * Kafka's record batches, format 2, without compression and transactions. kafkajs allocates and clears 512 bytes for each
 * header that it writes, copies all headers again for each one that it reads, and computes offsets with BigInt.
 * `quick-protocol.unit.test.ts` compares with kafkajs.
 */

const MAGIC = 2;
/** Offset, length, leader epoch, magic and checksum. The checksum covers what follows. */
const CHECKED_FROM = 21;
/** From the attributes to the number of records. */
const HEADER_END = 61;
/** Offset and length of a batch; the length counts what follows. */
const LENGTH_END = 12;
const NO_PRODUCER = -1n;
/** Neither compressed nor transactional nor for control. */
const UNUSUAL = 0x37;
const APPEND_TIME = 0x08;

type Part = Buffer | string | null;
type Header = readonly [name: string, value: Buffer | string];

/** A message with the sizes that precede its parts. */
interface SizedRecord {
  readonly key: Part;
  readonly value: Part;
  readonly headers: readonly Header[];
  readonly bytes: number;
}

export interface SizedBatch {
  readonly records: readonly SizedRecord[];
  readonly bytes: number;
}

/** Measures a batch before it is written. The messages have no timestamps of their own. */
export function sizeBatch(messages: readonly Message[]): SizedBatch {
  const records = messages.map(sizeRecord);
  const bytes = records.reduce((sum, record) => sum + sizeOfVarint(record.bytes) + record.bytes, HEADER_END);
  return { records, bytes };
}

function sizeRecord({ key = null, value, headers = {} }: Message, offsetDelta: number): SizedRecord {
  const list: Header[] = [];
  // Attributes and the difference of the timestamps take a byte each.
  let bytes = 2 + sizeOfVarint(offsetDelta) + sizeOfPart(key) + sizeOfPart(value);
  const add = (name: string, one: Buffer | string): void => {
    list.push([name, one]);
    bytes += sizeOfPart(name) + sizeOfPart(one);
  };
  for (const name of Object.keys(headers)) {
    const one = headers[name];
    if (Array.isArray(one)) for (const each of one) add(name, each);
    else if (one !== undefined) add(name, one);
  }
  return { key, value, headers: list, bytes: bytes + sizeOfVarint(list.length) };
}

function sizeOfPart(part: Part): number {
  if (part === null) return 1;
  const bytes = sizeOfText(part);
  return sizeOfVarint(bytes) + bytes;
}

/** @param timestampMs of every message, epoch ms */
export function writeBatch(writer: ByteWriter, { records, bytes }: SizedBatch, timestampMs: number): void {
  const start = writer.position;
  const timestamp = BigInt(timestampMs);
  writer
    .int64(0n)
    .int32(bytes - LENGTH_END)
    .int32(0)
    .int8(MAGIC)
    .int32(0);
  writer
    .int16(0)
    .int32(records.length - 1)
    .int64(timestamp)
    .int64(timestamp);
  writer.int64(NO_PRODUCER).int16(0).int32(0).int32(records.length);
  records.forEach((record, offsetDelta) => {
    writer.varint(record.bytes).int8(0).varint(0).varint(offsetDelta);
    writer.part(record.key).part(record.value).varint(record.headers.length);
    for (const [name, value] of record.headers) writer.part(name).part(value);
  });
  const checked = writer.bytes.subarray(start + CHECKED_FROM, writer.position);
  writer.bytes.writeUInt32BE(crc32C(checked), start + CHECKED_FROM - 4);
}

/**
 * The messages of one partition in a fetch response. Each has a copy of its bytes, since a message that waits would
 * otherwise keep the whole response in memory.
 *
 * @returns undefined if a batch is compressed, transactional, for control, in an older format or unusual in another way:
 * kafkajs reads those
 */
export function readBatches(bytes: Buffer): KafkaMessage[] | undefined {
  try {
    return readUsualBatches(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readUsualBatches(bytes: Buffer): KafkaMessage[] | undefined {
  const messages: KafkaMessage[] = [];
  const reader = new ByteReader(bytes);
  while (reader.left() >= HEADER_END) {
    const offset = reader.safeInt64();
    const end = reader.int32() + reader.position;
    // The broker cuts the response off at the size that was asked for.
    if (end > bytes.length) break;
    reader.skip(4);
    if (reader.int8() !== MAGIC) return undefined;
    reader.skip(4);
    const attributes = reader.int16();
    if ((attributes & UNUSUAL) !== 0) return undefined;
    reader.skip(4);
    const firstTimestamp = reader.safeInt64();
    const maxTimestamp = reader.safeInt64();
    reader.skip(14);
    const fixedTimestamp = (attributes & APPEND_TIME) === 0 ? undefined : maxTimestamp;
    for (let count = reader.int32(); count > 0; count -= 1) {
      messages.push(readRecord(reader, { offset, firstTimestamp, fixedTimestamp }));
    }
    reader.position = end;
  }
  return messages;
}

interface BatchStart {
  readonly offset: number;
  readonly firstTimestamp: number;
  readonly fixedTimestamp: number | undefined;
}

function readRecord(batch: ByteReader, { offset, firstTimestamp, fixedTimestamp }: BatchStart): KafkaMessage {
  const reader = new ByteReader(Buffer.from(batch.take(batch.varint())));
  const attributes = reader.int8();
  const timestamp = firstTimestamp + reader.varint();
  const offsetDelta = reader.varint();
  return {
    attributes,
    timestamp: String(fixedTimestamp ?? timestamp),
    offset: String(offset + offsetDelta),
    key: reader.part(),
    value: reader.part(),
    headers: readHeaders(reader),
  };
}

function readHeaders(reader: ByteReader): IHeaders {
  const headers: Record<string, Buffer | Buffer[] | null> = {};
  for (let count = reader.varint(); count > 0; count -= 1) {
    const name = String(reader.part());
    const value = reader.part();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    const all = before === undefined ? value : ([before, value].flat() as Buffer[]);
    if (name === '__proto__')
      Object.defineProperty(headers, name, { value: all, enumerable: true, configurable: true, writable: true });
    else headers[name] = all;
  }
  return headers as IHeaders;
}
