import type { ServiceDeclaration, TopicName } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import { deadLetterTopicOf, topicOf } from './topics';

/** What a process does with topics. */
export type TopicUse = Pick<ServiceDeclaration, 'consumes' | 'produces'>;

const all = Object.keys(topics) as TopicName[];

/** For tests and tools. */
export const everyTopic: TopicUse = { consumes: all, produces: all };

/** Full names of the topics that a process writes: those it produces, and the dead letters of those it consumes. */
export function writtenTopics(prefix: string | undefined, { consumes, produces }: TopicUse): string[] {
  return [...produces.map((topic) => topicOf(prefix, topic)), ...deadLettersOf(prefix, consumes)];
}

/** Full names of the dead-letter topics of these topics. */
export function deadLettersOf(prefix: string | undefined, names: readonly TopicName[]): string[] {
  return names.map((topic) => deadLetterTopicOf(prefix, topic)).filter((name) => name !== undefined);
}
