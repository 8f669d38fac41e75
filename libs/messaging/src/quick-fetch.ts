import type { KafkaMessage } from 'kafkajs';
import Decoder from 'kafkajs/src/protocol/decoder';
import type { Exchange } from 'kafkajs/src/protocol/requests';
import { requests } from 'kafkajs/src/protocol/requests';
import decodeMessages from 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages';
import { ByteReader } from './byte-reader';
import type { WrittenRequest } from './byte-writer';
import { ByteWriter, sizeOfText } from './byte-writer';
import { readBatches } from './record-batch';

/** kafkajs' newest version, which all supported brokers know. Other versions are left to kafkajs. */
const FETCH_VERSION = 11;

const NOBODY = -1;
const READ_COMMITTED = 1;
const NO_SESSION = -1;
const UNKNOWN_OFFSET = -1n;
const UNKNOWN_EPOCH = -1;
/** All fields before the topics and behind them, without the text of the rack. */
const FIXED_BYTES = 35;
const PARTITION_BYTES = 28;

export interface FetchArguments {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly isolationLevel?: number;
  readonly rackId?: string;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      /** Decimal. */
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }[];
  }[];
}

export function encodeFetch(args: FetchArguments): WrittenRequest {
  const { topics, isolationLevel = READ_COMMITTED, rackId = '' } = args;
  let size = FIXED_BYTES + sizeOfText(rackId);
  for (const { topic, partitions } of topics) size += 6 + sizeOfText(topic) + PARTITION_BYTES * partitions.length;
  const writer = new ByteWriter(size).int32(NOBODY).int32(args.maxWaitTime).int32(args.minBytes).int32(args.maxBytes);
  writer.int8(isolationLevel).int32(0).int32(NO_SESSION).int32(topics.length);
  for (const { topic, partitions } of topics) {
    writer.text(topic).int32(partitions.length);
    for (const { partition, fetchOffset, maxBytes } of partitions) {
      writer.int32(partition).int32(UNKNOWN_EPOCH).int64(BigInt(fetchOffset)).int64(UNKNOWN_OFFSET).int32(maxBytes);
    }
  }
  return writer.int32(0).text(rackId).done();
}

/** What a broker has sent, without the partitions from which nothing came: kafkajs would make a batch of each of them. */
export async function decodeFetch(payload: Buffer) {
  const reader = new ByteReader(payload);
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  const sessionId = reader.int32();
  const responses: { topicName: string; partitions: ReturnType<typeof fetchedPartition>[] }[] = [];
  for (let topics = reader.int32(); topics > 0; topics -= 1) {
    const topicName = reader.text();
    const partitions: ReturnType<typeof fetchedPartition>[] = [];
    for (let count = reader.int32(); count > 0; count -= 1) {
      const raw = readPartition(reader);
      const usual = raw.aborted.length === 0 ? readBatches(raw.records) : undefined;
      const messages = usual ?? (await readByKafkajs(raw.records));
      if (messages.length > 0 || raw.errorCode !== 0 || raw.preferredReadReplica !== NOBODY) {
        partitions.push(fetchedPartition(raw, messages));
      }
    }
    if (partitions.length > 0) responses.push({ topicName, partitions });
  }
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
}

interface RawPartition {
  readonly partition: number;
  readonly errorCode: number;
  /** High watermark, last stable offset and start of the log. */
  readonly offsets: Buffer;
  /** Producer id and first offset of each aborted transaction. */
  readonly aborted: Buffer;
  readonly preferredReadReplica: number;
  readonly records: Buffer;
}

function readPartition(reader: ByteReader): RawPartition {
  return {
    partition: reader.int32(),
    errorCode: reader.int16(),
    offsets: reader.take(24),
    aborted: reader.take(16 * Math.max(0, reader.int32())),
    preferredReadReplica: reader.int32(),
    records: readRecords(reader),
  };
}

/** A partition as kafkajs describes it. */
function fetchedPartition({ offsets, aborted, records: _records, ...raw }: RawPartition, messages: KafkaMessage[]) {
  const [highWatermark = '', lastStableOffset = '', lastStartOffset = ''] = decimals(offsets);
  const ids = decimals(aborted);
  const abortedTransactions = Array.from({ length: ids.length / 2 }, (_none, index) => ({
    producerId: ids[2 * index],
    firstOffset: ids[2 * index + 1],
  }));
  return { ...raw, highWatermark, lastStableOffset, lastStartOffset, abortedTransactions, messages };
}

function decimals(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / 8 }, (_none, index) => bytes.readBigInt64BE(8 * index).toString());
}

function readRecords(reader: ByteReader): Buffer {
  const bytes = reader.int32();
  return reader.take(bytes <= 0 || bytes > reader.left() ? 0 : bytes);
}

function readByKafkajs(records: Buffer): Promise<KafkaMessage[]> {
  const size = Buffer.alloc(4);
  size.writeInt32BE(records.length);
  return decodeMessages(new Decoder(Buffer.concat([size, records])));
}

function quickFetch(original: Exchange): Exchange {
  return (args) => {
    const { request, response, ...exchange } = original(args);
    return {
      ...exchange,
      request: { ...request, encode: async () => encodeFetch(args as FetchArguments) },
      response: { ...response, decode: decodeFetch },
    };
  };
}

let quick = false;

/** Makes kafkajs' consumers write and read fetches with the functions above, once per process. */
export function quickenFetches(): void {
  if (quick) return;
  quick = true;
  const { Fetch } = requests;
  const { protocol } = Fetch;
  Fetch.protocol = ({ version }) => {
    const original = protocol({ version });
    return version === FETCH_VERSION ? quickFetch(original) : original;
  };
}
