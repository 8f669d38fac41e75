import type { KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { ReplayRequested } from '@gateway/contracts';
import { LimitedRetryError, messageOf } from '@gateway/service-kit';
import { isRefusal } from './access';
import type { KafkaClient } from './client';
import { originalOf } from './dead-letters';
import { decode, InvalidMessageError, typeOf } from './envelope';
import { createLeaderLinks } from './leader-links';
import { deadLetterTopicOf, topicName, topicOf } from './topics';

/** A message and where it was read. */
export interface ReceivedMessage {
  /** Full name. */
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

/** Finds the messages that an operator asks for, in the dead-letter topics of a worker's own topics. */
export interface ReplayedLetters {
  /**
   * The message as it was, in the topic that it was in. Undefined if another service reads that topic. The request is not
   * trusted: it can only name a dead letter of a topic that this worker reads.
   *
   * @throws InvalidMessageError if there is no such dead letter; RetryableError if the brokers do not answer
   */
  find(request: ReceivedMessage): Promise<ReceivedMessage | undefined>;
  close(): void;
}

const ANSWER_TIMEOUT_MS = 5_000;

/** @param topics that the worker reads */
export function createReplayedLetters(options: {
  links: KafkaClient['links'];
  topicPrefix: string | undefined;
  topics: readonly TopicName[];
}): ReplayedLetters {
  const { topicPrefix } = options;
  const leaders = createLeaderLinks(options.links);
  const origins = new Map(
    options.topics.map((topic) => [deadLetterTopicOf(topicPrefix, topic), topicOf(topicPrefix, topic)]),
  );

  async function read(topic: string, partition: number, offset: number): Promise<KafkaMessage | undefined> {
    try {
      const leader = (await leaders.of([topic]))({ topic, partition });
      if (leader === undefined) throw new LimitedRetryError(`${topic} ${partition} has no leader`);
      return await leader.messageAt({ topic, partition, offset }, ANSWER_TIMEOUT_MS);
    } catch (error) {
      // The right may be on its way: provisioning adds it.
      throw isRefusal(error) ? new LimitedRetryError(messageOf(error), { cause: error }) : error;
    }
  }

  return {
    async find(request) {
      if (typeOf(request.message) !== ReplayRequested.type)
        throw new InvalidMessageError('it is no request to replay a dead letter');
      const { deadLetters, partition, offset } = decode(ReplayRequested, request, request.message).data;
      const name = topicName(topicPrefix, deadLetters);
      const topic = origins.get(name);
      if (topic === undefined) return undefined;
      const letter = await read(name, partition, offset);
      if (letter === undefined)
        throw new InvalidMessageError(`there is no dead letter at ${name} ${partition} ${offset}`);
      return { topic, ...originalOf(letter, `${name}/${partition}/${offset}`) };
    },
    close: () => leaders.close(),
  };
}
