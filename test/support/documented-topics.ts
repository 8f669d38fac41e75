import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessageExample } from '@gateway/contracts';
import { DEAD_LETTER } from '@gateway/contracts';
import type { Space } from '@gateway/testing';
import type { StoredMessage } from '../asyncapi/documented';
import { createMessageCheck, readAsyncApi } from '../asyncapi/documented';
import type { TopicRecord } from './topics';
import { allTopics, readTopics } from './topics';

const EXAMPLES = join(__dirname, '..', '..', 'docs', 'message-examples.json');
/** Of one space; a test with more has many of the same kind. */
const CHECKED_MAX = 20_000;
const SHOWN_MAX = 10;

/**
 * Compares all that is in the topics of a space with docs/asyncapi.yaml. What services have dead-lettered may be anything.
 * With `UPDATE_EXAMPLES` set, message types without an example get one, for the next `npm run docs`.
 *
 * @throws Error that names the first messages which are not as documented
 */
export async function checkTopics(space: Space): Promise<void> {
  const records = await readTopics(space, allTopics(space));
  const found = problemsOf(records.slice(0, CHECKED_MAX), space.topicPrefix);
  if (process.env['UPDATE_EXAMPLES'] !== undefined) writeExamples(records, space.topicPrefix);
  if (found.length > 0) throw new Error(`not as docs/asyncapi.yaml says:\n${found.slice(0, SHOWN_MAX).join('\n')}`);
}

const withoutPrefix = (record: TopicRecord, prefix: string): StoredMessage => ({
  ...record,
  topic: record.topic.slice(prefix.length),
});

const placeOf = (topic = '', partition: number | string = '', offset = ''): string => `${topic}|${partition}|${offset}`;

/** One line for each message that is not as documented. */
export function problemsOf(records: readonly TopicRecord[], prefix: string): string[] {
  const problem = createMessageCheck(readAsyncApi());
  const rejected = new Set(
    records.map(({ headers: { dlq_topic, dlq_partition, dlq_offset } }) =>
      placeOf(dlq_topic, dlq_partition, dlq_offset),
    ),
  );
  return records
    .filter(({ topic, partition, offset }) => !rejected.has(placeOf(topic, partition, offset)))
    .flatMap((record) => problem(withoutPrefix(record, prefix)) ?? []);
}

function writeExamples(records: readonly TopicRecord[], prefix: string): void {
  const examples = (existsSync(EXAMPLES) ? JSON.parse(readFileSync(EXAMPLES, 'utf8')) : {}) as Record<
    string,
    MessageExample
  >;
  const problem = createMessageCheck(readAsyncApi());
  for (const record of records) {
    const { key, value, headers } = record;
    const type = headers['dlq_topic'] === undefined ? headers['ce_type'] : DEAD_LETTER;
    // Only what a service itself has published.
    if (type === undefined || type in examples || headers['ce_source'] === 'test') continue;
    if (problem(withoutPrefix(record, prefix)) !== undefined) continue;
    examples[type] = { key, headers: withoutPrefixes(headers, prefix), payload: JSON.parse(value) as unknown };
  }
  const sorted = Object.entries(examples).sort(([a], [b]) => a.localeCompare(b));
  writeFileSync(EXAMPLES, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

const withoutPrefixes = (headers: Record<string, string>, prefix: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, text.replace(prefix, '')]));
