import type { Admin, ConfigEntries, ITopicConfig } from 'kafkajs';
import { ConfigResourceTypes, ConfigSource } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { DEAD_LETTER_PARTITIONS, DEAD_LETTER_RETENTION_DAYS, DEFAULT_PARTITIONS, topics } from '@gateway/contracts';
import type { KafkaClient } from './client';

/** Prefixes separate installations, or test files, on one cluster. Groups have them too. */
export function topicName(prefix: string | undefined, name: string): string {
  return (prefix ?? '') + name;
}

/** The full name of a declared topic. */
export function topicOf(prefix: string | undefined, topic: TopicName): string {
  return topicName(prefix, topics[topic].name);
}

/** The full name of a topic's dead-letter topic, if it has one. */
export function deadLetterTopicOf(prefix: string | undefined, topic: TopicName): string | undefined {
  const declared = topics[topic];
  return 'deadLetters' in declared ? topicName(prefix, declared.deadLetters) : undefined;
}

const topicsWithDeadLetters = (Object.keys(topics) as TopicName[]).filter((topic) => 'deadLetters' in topics[topic]);

/** The full names of all dead-letter topics, and of the topics that their messages come from. */
export function deadLetterTopics(prefix: string | undefined): Map<string, string> {
  const names = new Map<string, string>();
  for (const topic of topicsWithDeadLetters) {
    const deadLetters = deadLetterTopicOf(prefix, topic);
    if (deadLetters !== undefined) names.set(deadLetters, topicOf(prefix, topic));
  }
  return names;
}

/** Settings for new topics. */
export interface TopicSettings {
  /** For all topics except dead letters. Default {@link DEFAULT_PARTITIONS}. */
  partitions?: number;
  /** Default 3 with three brokers or more, else 1. */
  replicationFactor?: number;
  /** Default 2 for topics with three replicas or more, else 1. */
  minInsyncReplicas?: number;
  /** How long dead letters are kept. Default {@link DEAD_LETTER_RETENTION_DAYS}. */
  deadLetterRetentionDays?: number;
}

export interface CreatedTopics {
  /** Full names. */
  created: string[];
  reconfigured: string[];
  /** Topics that had fewer partitions than requested, and never a message. */
  grown: string[];
  /** Topics with messages and fewer partitions than requested: see {@link growTopics}. */
  small: string[];
  /** Used for new topics. */
  replicationFactor: number;
  minInsyncReplicas: number;
}

/** A topic on the brokers. */
export interface ExistingTopic {
  /** Full name. */
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Number of partitions with replicas out of sync. */
  readonly underReplicated: number;
}

/** A topic already has more partitions than requested. Kafka cannot remove partitions. */
export class TopicsTooLargeError extends Error {
  override readonly name = 'TopicsTooLargeError';
}

interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly config: Readonly<Record<string, string>>;
}

/** With this many brokers a topic has three replicas, of which two acknowledge, so one broker may be away. */
const CLUSTER_BROKERS = 3;
const CLUSTER_MIN_INSYNC_REPLICAS = 2;

/** Foreign producers may send the largest message that the broker allows. The reason makes it larger. */
const DEAD_LETTER_MAX_BYTES = 2 * 1_048_576;
const TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;
const LEADER_POLL_MS = 50;

/**
 * Creates missing topics of the contracts, corrects retention and `min.insync.replicas`, and adds partitions to topics
 * that never had a message, such as those that a broker made at somebody's first look. Never removes anything, not even a
 * setting that others have given to a topic, and never adds partitions to a topic with messages ({@link growTopics}
 * does). Concurrent calls are safe.
 *
 * @throws kafkajs' error if the brokers cannot be reached or reject a request.
 */
export async function createTopics(
  options: { kafka: KafkaClient; prefix?: string } & TopicSettings,
): Promise<CreatedTopics> {
  return withAdmin(options.kafka, async (admin) => {
    const { partitions = DEFAULT_PARTITIONS } = options;
    const existing = await describe(admin, namesOf(options.prefix));
    const replicationFactor = options.replicationFactor ?? (await defaultReplicationFactor(admin, existing));
    const minInsyncReplicas = options.minInsyncReplicas ?? defaultMinInsyncReplicas(replicationFactor);
    const { deadLetterRetentionDays = DEAD_LETTER_RETENTION_DAYS } = options;
    const sizes = { partitions, deadLetterRetentionMs: deadLetterRetentionDays * DAY_MS };
    const wanted = wantedTopics(options.prefix, sizes, (name) => {
      // A broker that is away must not make existing topics less durable.
      const replicas = existing.get(name)?.replicationFactor ?? replicationFactor;
      return options.minInsyncReplicas ?? defaultMinInsyncReplicas(replicas);
    });
    const missing = wanted.filter((topic) => !existing.has(topic.name));
    await create(admin, missing, replicationFactor);
    const present = wanted.filter((topic) => existing.has(topic.name));
    const isSmall = (topic: WantedTopic): boolean => (existing.get(topic.name)?.partitions ?? 0) < topic.partitions;
    const { unused, used } = await byUse(admin, present.filter(isSmall));
    await addPartitions(admin, unused);
    return {
      created: missing.map((topic) => topic.name),
      reconfigured: await reconfigure(admin, present),
      grown: unused.map((topic) => topic.name),
      small: used.map((topic) => topic.name),
      replicationFactor,
      minInsyncReplicas,
    };
  });
}

/** A setting of a topic that is not as declared. */
export interface TopicDifference {
  readonly topic: string;
  readonly setting: string;
  readonly is: string | undefined;
  readonly wanted: string;
}

export interface TopicInspection {
  /** How many topics are declared. */
  readonly topics: number;
  /** Full names. */
  readonly missing: string[];
  readonly different: TopicDifference[];
  /** With the number of partitions whose replicas are not all in sync. */
  readonly underReplicated: { readonly topic: string; readonly partitions: number }[];
  /** With the number of replicas that new topics would get on these brokers. */
  readonly tooFewReplicas: { readonly topic: string; readonly is: number; readonly wanted: number }[];
  /** `name: partitions` of topics with fewer partitions than others. All but dead letters have as many. */
  readonly uneven: string[];
}

/**
 * Compares topics with what {@link createTopics} would make of the same settings on these brokers. Changes nothing.
 *
 * @throws kafkajs' error if the brokers cannot be reached or reject a request.
 */
export async function inspectTopics(
  options: { kafka: KafkaClient; prefix?: string } & Pick<
    TopicSettings,
    'replicationFactor' | 'minInsyncReplicas' | 'deadLetterRetentionDays'
  >,
): Promise<TopicInspection> {
  return withAdmin(options.kafka, async (admin) => {
    const existing = await describe(admin, namesOf(options.prefix));
    const keyed = keyedNamesOf(options.prefix).flatMap((name) => existing.get(name) ?? []);
    const partitions = Math.max(0, ...keyed.map((topic) => topic.partitions));
    const { deadLetterRetentionDays = DEAD_LETTER_RETENTION_DAYS } = options;
    const sizes = { partitions, deadLetterRetentionMs: deadLetterRetentionDays * DAY_MS };
    const wanted = wantedTopics(options.prefix, sizes, (name) => {
      const replicas = existing.get(name)?.replicationFactor ?? 1;
      return options.minInsyncReplicas ?? defaultMinInsyncReplicas(replicas);
    });
    const present = wanted.filter(({ name }) => existing.has(name));
    const replicas = options.replicationFactor ?? (await replicationFactorOfCluster(admin));
    return {
      topics: wanted.length,
      missing: wanted.filter(({ name }) => !existing.has(name)).map(({ name }) => name),
      different: differences(present, await settingsOf(admin, present)),
      underReplicated: [...existing.values()]
        .filter(({ underReplicated }) => underReplicated > 0)
        .map(({ name: topic, underReplicated }) => ({ topic, partitions: underReplicated })),
      tooFewReplicas: [...existing.values()]
        .filter(({ replicationFactor }) => replicationFactor < replicas)
        .map(({ name: topic, replicationFactor }) => ({ topic, is: replicationFactor, wanted: replicas })),
      uneven: keyed
        .filter((topic) => topic.partitions < partitions)
        .map((topic) => `${topic.name}: ${topic.partitions}`),
    };
  });
}

/** The contracts' topics that exist, in the contracts' order. */
export async function listTopics(options: { kafka: KafkaClient; prefix?: string }): Promise<ExistingTopic[]> {
  return withAdmin(options.kafka, async (admin) => [...(await describe(admin, namesOf(options.prefix))).values()]);
}

/**
 * Grows every topic except dead letters to `partitions`. Changes nothing if a topic already has more. Running publishers
 * use the new partitions after `newPartitionsAfterMs`, when every consumer has noticed them.
 *
 * @returns full names of the topics that grew.
 * @throws TopicsTooLargeError, or kafkajs' error if the brokers cannot be reached or reject the request.
 */
export async function growTopics(options: {
  kafka: KafkaClient;
  prefix?: string;
  partitions: number;
}): Promise<string[]> {
  const { kafka, prefix, partitions } = options;
  return withAdmin(kafka, async (admin) => {
    const present = [...(await describe(admin, keyedNamesOf(prefix))).values()];
    const tooLarge = present.filter((topic) => topic.partitions > partitions);
    if (tooLarge.length > 0) {
      const found = tooLarge.map((topic) => `${topic.name} has ${topic.partitions} partitions`).join(', ');
      throw new TopicsTooLargeError(`topics cannot shrink to ${partitions}: ${found}`);
    }
    const small = present.filter((topic) => topic.partitions < partitions);
    if (small.length === 0) return [];
    await addPartitions(
      admin,
      small.map(({ name }) => ({ name, partitions })),
    );
    return small.map((topic) => topic.name);
  });
}

/** What Kafka keeps of a partition. */
export interface PartitionRange {
  /** Full name. */
  readonly topic: string;
  readonly partition: number;
  /** Offsets of the oldest message, and of the next one to be written. */
  readonly low: number;
  readonly end: number;
}

/** @param topic full name */
export async function rangesOf(admin: Admin, topic: string): Promise<PartitionRange[]> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.map(({ partition, low, high }) => ({ topic, partition, low: Number(low), end: Number(high) }));
}

/** Connects for one piece of work. */
export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

function keyedNamesOf(prefix: string | undefined): string[] {
  return (Object.keys(topics) as TopicName[]).map((topic) => topicOf(prefix, topic));
}

function namesOf(prefix: string | undefined): string[] {
  return [...keyedNamesOf(prefix), ...deadLetterTopics(prefix).keys()];
}

async function describe(admin: Admin, names: readonly string[]): Promise<Map<string, ExistingTopic>> {
  const all = new Set(await admin.listTopics());
  const existing = names.filter((name) => all.has(name));
  if (existing.length === 0) return new Map();
  const metadata = await admin.fetchTopicMetadata({ topics: existing });
  const found = new Map(metadata.topics.map((topic) => [topic.name, topic.partitions]));
  return new Map(
    existing.map((name) => {
      const partitions = found.get(name) ?? [];
      const replicationFactor = Math.max(0, ...partitions.map(({ replicas }) => replicas.length));
      const underReplicated = partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length;
      return [name, { name, partitions: partitions.length, replicationFactor, underReplicated }];
    }),
  );
}

/**
 * That of the cluster, or of existing topics, if it is larger: brokers may be away. One topic with fewer replicas, such as
 * one that a broker has made by itself, does not lower that of others.
 */
async function defaultReplicationFactor(admin: Admin, existing: Map<string, ExistingTopic>): Promise<number> {
  const others = [...existing.values()].map(({ replicationFactor }) => replicationFactor);
  return Math.max(await replicationFactorOfCluster(admin), ...others);
}

async function replicationFactorOfCluster(admin: Admin): Promise<number> {
  const { brokers } = await admin.describeCluster();
  return brokers.length >= CLUSTER_BROKERS ? CLUSTER_BROKERS : 1;
}

function defaultMinInsyncReplicas(replicationFactor: number): number {
  return replicationFactor >= CLUSTER_BROKERS ? CLUSTER_MIN_INSYNC_REPLICAS : 1;
}

function wantedTopics(
  prefix: string | undefined,
  { partitions, deadLetterRetentionMs }: { partitions: number; deadLetterRetentionMs: number },
  minInsyncReplicasOf: (name: string) => number,
): WantedTopic[] {
  const wanted: WantedTopic[] = [];
  const configOf = (name: string, retentionMs: number) => ({
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
    'min.insync.replicas': String(minInsyncReplicasOf(name)),
  });
  for (const topic of Object.keys(topics) as TopicName[]) {
    const name = topicOf(prefix, topic);
    const declared = topics[topic];
    const segments = 'segmentMs' in declared ? promptRemoval(declared.segmentMs) : {};
    wanted.push({ name, partitions, config: { ...configOf(name, declared.retentionMs), ...segments } });
  }
  for (const name of deadLetterTopics(prefix).keys()) {
    const config = { ...configOf(name, deadLetterRetentionMs), 'max.message.bytes': String(DEAD_LETTER_MAX_BYTES) };
    wanted.push({ name, partitions: DEAD_LETTER_PARTITIONS, config });
  }
  return wanted;
}

/** For topics whose messages must really be gone: small segments, and the broker's clock. */
function promptRemoval(segmentMs: number): Record<string, string> {
  return { 'segment.ms': String(segmentMs), 'message.timestamp.type': 'LogAppendTime' };
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

/** A topic whose messages were all removed counts as used: consumers have read it, and publishers may write to it now. */
async function byUse(
  admin: Admin,
  small: readonly WantedTopic[],
): Promise<Record<'unused' | 'used', readonly WantedTopic[]>> {
  const offsets = await Promise.all(small.map(({ name }) => admin.fetchTopicOffsets(name)));
  const isUnused = (_topic: WantedTopic, index: number): boolean =>
    offsets[index]?.every(({ high }) => high === '0') ?? false;
  const unused = small.filter(isUnused);
  return { unused, used: small.filter((topic) => !unused.includes(topic)) };
}

async function addPartitions(
  admin: Admin,
  topicsToGrow: readonly Pick<WantedTopic, 'name' | 'partitions'>[],
): Promise<void> {
  if (topicsToGrow.length === 0) return;
  const topicPartitions = topicsToGrow.map(({ name: topic, partitions: count }) => ({ topic, count }));
  await admin.createPartitions({ topicPartitions, timeout: TIMEOUT_MS });
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

async function reconfigure(admin: Admin, present: readonly WantedTopic[]): Promise<string[]> {
  const settings = await settingsOf(admin, present);
  const names = new Set(differences(present, settings).map(({ topic }) => topic));
  const different = present.filter(({ name }) => names.has(name));
  if (different.length > 0) {
    await admin.alterConfigs({
      validateOnly: false,
      resources: different.map(({ name, config }) => ({
        type: ConfigResourceTypes.TOPIC,
        name,
        // Kafka resets what is left out to the broker's default.
        configEntries: entriesOf({ ...overridesIn(settings.get(name) ?? []), ...config }),
      })),
    });
  }
  return different.map((topic) => topic.name);
}

type SettingsByTopic = ReadonlyMap<string, readonly ConfigEntries[]>;

/** All settings of topics, the brokers' defaults included, by the topic's full name. */
async function settingsOf(admin: Admin, present: readonly WantedTopic[]): Promise<SettingsByTopic> {
  if (present.length === 0) return new Map();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: present.map(({ name }) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  return new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]));
}

/** What is set for the topic itself. */
function overridesIn(settings: readonly ConfigEntries[]): Record<string, string> {
  const own = settings.filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG);
  return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]));
}

function differences(present: readonly WantedTopic[], settings: SettingsByTopic): TopicDifference[] {
  return present.flatMap(({ name: topic, config }) => {
    const actual = new Map(settings.get(topic)?.map(({ configName, configValue }) => [configName, configValue]));
    return Object.entries(config).flatMap(([setting, wanted]) => {
      const is = actual.get(setting);
      return is === wanted ? [] : [{ topic, setting, is, wanted }];
    });
  });
}

function entriesOf(config: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(config).map(([name, value]) => ({ name, value }));
}
