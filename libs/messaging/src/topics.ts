import type { Admin, ITopicConfig } from 'kafkajs';
import { ConfigResourceTypes } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { DEAD_LETTER_PARTITIONS, DEAD_LETTER_RETENTION_MS, topics } from '@gateway/contracts';
import type { KafkaClient } from './client';

/** What separates the installations (or test files) on one cluster; groups carry it as well as topics. */
export function topicName(prefix: string | undefined, name: string): string {
  return (prefix ?? '') + name;
}

/** The full name of a topic of the contracts' table. */
export function topicOf(prefix: string | undefined, topic: TopicName): string {
  return topicName(prefix, topics[topic].name);
}

/** The full name of the topic for messages of `topic` that can never be processed; undefined where it has none. */
export function deadLetterTopicOf(prefix: string | undefined, topic: TopicName): string | undefined {
  const declared = topics[topic];
  return 'deadLetters' in declared ? topicName(prefix, declared.deadLetters) : undefined;
}

/** The full names of all dead-letter topics, each with the topic its messages come from. */
export function deadLetterTopics(prefix: string | undefined): Map<string, string> {
  const names = new Map<string, string>();
  for (const topic of Object.keys(topics) as TopicName[]) {
    const deadLetters = deadLetterTopicOf(prefix, topic);
    if (deadLetters !== undefined) names.set(deadLetters, topicOf(prefix, topic));
  }
  return names;
}

export interface CreatedTopics {
  /** Full names. */
  created: string[];
  grown: string[];
  reconfigured: string[];
}

interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly config: Readonly<Record<string, string>>;
}

/** A message of a foreign producer may be as large as the broker lets it be; with the reason it is larger. */
const DEAD_LETTER_MAX_BYTES = 2 * 1_048_576;
const TIMEOUT_MS = 60_000;
const LEADER_POLL_MS = 50;

/**
 * Brings the cluster's topics to what the contracts declare: creates what is missing, adds partitions, corrects
 * retention and `min.insync.replicas`. Changes nothing that is right already, and never removes anything.
 * Replicas of the services that start at once may all call it.
 *
 * @throws kafkajs' error when the brokers cannot be reached or refuse.
 */
export async function createTopics(options: {
  kafka: KafkaClient;
  prefix?: string;
  /** 2 in production, together with a replication factor of 3. */
  minInsyncReplicas: number;
  replicationFactor: number;
}): Promise<CreatedTopics> {
  const wanted = wantedTopics(options.prefix, options.minInsyncReplicas);
  const admin = options.kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const missing = wanted.filter((topic) => !existing.has(topic.name));
    await create(admin, missing, options.replicationFactor);
    const present = wanted.filter((topic) => existing.has(topic.name));
    return {
      created: missing.map((topic) => topic.name),
      grown: await grow(admin, present),
      reconfigured: await reconfigure(admin, present),
    };
  } finally {
    await admin.disconnect();
  }
}

function wantedTopics(prefix: string | undefined, minInsyncReplicas: number): WantedTopic[] {
  const wanted: WantedTopic[] = [];
  const configOf = (retentionMs: number) => ({
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
    'min.insync.replicas': String(minInsyncReplicas),
  });
  for (const topic of Object.keys(topics) as TopicName[]) {
    const { partitions, retentionMs } = topics[topic];
    wanted.push({ name: topicOf(prefix, topic), partitions, config: configOf(retentionMs) });
  }
  for (const name of deadLetterTopics(prefix).keys()) {
    const config = { ...configOf(DEAD_LETTER_RETENTION_MS), 'max.message.bytes': String(DEAD_LETTER_MAX_BYTES) };
    wanted.push({ name, partitions: DEAD_LETTER_PARTITIONS, config });
  }
  return wanted;
}

async function create(admin: Admin, missing: readonly WantedTopic[], replicationFactor: number): Promise<void> {
  if (missing.length === 0) return;
  // Answers false when another replica created one of them meanwhile: as good.
  await admin.createTopics({
    topics: missing.map((topic): ITopicConfig => ({
      topic: topic.name,
      numPartitions: topic.partitions,
      replicationFactor,
      configEntries: entriesOf(topic.config),
    })),
    timeout: TIMEOUT_MS,
    waitForLeaders: false,
  });
  await waitForLeaders(
    admin,
    missing.map((topic) => topic.name),
  );
}

/**
 * Brokers learn of a new topic a moment after the controller, and lead its partitions a moment after that. Messages
 * sent in between may be published twice. kafkajs' own wait takes the first moment for an error.
 */
async function waitForLeaders(admin: Admin, names: readonly string[]): Promise<void> {
  const endMs = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      await Promise.all(names.map((name) => admin.fetchTopicOffsets(name)));
      return;
    } catch (error) {
      if (Date.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LEADER_POLL_MS));
  }
}

async function grow(admin: Admin, present: readonly WantedTopic[]): Promise<string[]> {
  if (present.length === 0) return [];
  const metadata = await admin.fetchTopicMetadata({ topics: present.map((topic) => topic.name) });
  const partitionsOf = new Map(metadata.topics.map((topic) => [topic.name, topic.partitions.length]));
  const small = present.filter((topic) => (partitionsOf.get(topic.name) ?? 0) < topic.partitions);
  if (small.length > 0) {
    const topicPartitions = small.map((topic) => ({ topic: topic.name, count: topic.partitions }));
    await admin.createPartitions({ topicPartitions, timeout: TIMEOUT_MS });
  }
  return small.map((topic) => topic.name);
}

async function reconfigure(admin: Admin, present: readonly WantedTopic[]): Promise<string[]> {
  if (present.length === 0) return [];
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: present.map((topic) => ({
      type: ConfigResourceTypes.TOPIC,
      name: topic.name,
      configNames: Object.keys(topic.config),
    })),
  });
  const actual = new Map(
    described.resources.map((resource) => [
      resource.resourceName,
      new Map(resource.configEntries.map((entry) => [entry.configName, entry.configValue])),
    ]),
  );
  const different = present.filter((topic) =>
    Object.entries(topic.config).some(([name, value]) => actual.get(topic.name)?.get(name) !== value),
  );
  if (different.length > 0) {
    await admin.alterConfigs({
      validateOnly: false,
      resources: different.map((topic) => ({
        type: ConfigResourceTypes.TOPIC,
        name: topic.name,
        configEntries: entriesOf(topic.config),
      })),
    });
  }
  return different.map((topic) => topic.name);
}

function entriesOf(config: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(config).map(([name, value]) => ({ name, value }));
}
