import type { Message } from 'kafkajs';
import type { RequestDefinition } from 'kafkajs/src/protocol/requests';
import { requests } from 'kafkajs/src/protocol/requests';
import type { WrittenRequest } from './byte-writer';
import { ByteWriter, sizeOfText } from './byte-writer';
import { sizeBatch, writeBatch } from './record-batch';

/** kafkajs' newest version, which all supported brokers know. Other versions are left to kafkajs. */
const PRODUCE_VERSION = 7;
/** Transaction, acks, time-out and number of topics. */
const HEADER_BYTES = 12;

export interface ProduceArguments {
  readonly acks: number;
  readonly timeout: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly messages: readonly Message[] }[];
  }[];
}

export function encodeProduce({ acks, timeout, topicData }: ProduceArguments, nowMs: number): WrittenRequest {
  const sized = topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, messages }) => ({ partition, batch: sizeBatch(messages) })),
  }));
  let size = HEADER_BYTES;
  for (const { topic, partitions } of sized) {
    size += 6 + sizeOfText(topic);
    for (const { batch } of partitions) size += 8 + batch.bytes;
  }
  const writer = new ByteWriter(size).text(null).int16(acks).int32(timeout).int32(sized.length);
  for (const { topic, partitions } of sized) {
    writer.text(topic).int32(partitions.length);
    for (const { partition, batch } of partitions) {
      writer.int32(partition).int32(batch.bytes);
      writeBatch(writer, batch, nowMs);
    }
  }
  return writer.done();
}

/** kafkajs' produce request, with an encoder that writes all of it into one buffer. */
export const produceRequest: RequestDefinition = {
  versions: requests.Produce.versions,
  protocol({ version }) {
    const original = requests.Produce.protocol({ version });
    if (version !== PRODUCE_VERSION) return original;
    return (args) => {
      const { request, ...exchange } = original(args);
      return {
        ...exchange,
        request: { ...request, encode: async () => encodeProduce(args as ProduceArguments, Date.now()) },
      };
    };
  },
};
