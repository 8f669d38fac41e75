import { setTimeout as pause } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import { topicName, topicOf } from '@gateway/messaging';
import type { Space } from '@gateway/testing';
import { kafkaOf, until } from '@gateway/testing';
import { publishAgain, readTopics } from '../../support/topics';
import type { Random } from '../random';

const LOOK_EVERY_MS = 300;
const REPEATED_PER_TOPIC = 60;

/** Publishes the latest messages again in random order, each to its partition. */
export async function repeatMessages(space: Space, random: Random): Promise<void> {
  const names: TopicName[] = [
    'cardCommands',
    'cardExpiries',
    'threedsCommands',
    'payoutCommands',
    'cardEvents',
    'threedsEvents',
    'payoutEvents',
  ];
  const records = await readTopics(
    space,
    names.map((name) => topicOf(space.topicPrefix, name)),
  );
  const latest = [...Map.groupBy(records, (message) => message.topic).values()].flatMap((messages) =>
    messages
      .sort((a, b) => (a.headers['ce_time'] ?? '').localeCompare(b.headers['ce_time'] ?? ''))
      .slice(-REPEATED_PER_TOPIC),
  );
  await publishAgain(space, random.shuffle(latest));
}

const READ: Record<string, readonly TopicName[]> = {
  'card-processing': ['cardCommands', 'cardExpiries', 'threedsEvents'],
  threeds: ['threedsCommands'],
  payout: ['payoutCommands'],
  'auth-expiry': ['cardEvents'],
  'callback-dispatcher': ['cardEvents', 'payoutEvents'],
};
const REWOUND_BY = 25;
/** kafkajs' default. */
const SESSION_MS = 30_000;

async function untilEmpty(admin: Admin, groupId: string): Promise<void> {
  const isEmpty = async (): Promise<boolean> => {
    await pause(LOOK_EVERY_MS);
    const { groups } = await admin.describeGroups([groupId]);
    return groups[0]?.members.length === 0;
  };
  await until(`${groupId} to be empty`, isEmpty, SESSION_MS + LOOK_EVERY_MS);
}

/** Rewinds a group without members by some messages in each partition. */
export async function rewindGroup(space: Space, service: string): Promise<void> {
  const admin = kafkaOf(space).admin();
  await admin.connect();
  const groupId = topicName(space.topicPrefix, service);
  try {
    await untilEmpty(admin, groupId);
    const names = (READ[service] ?? []).map((name) => topicName(space.topicPrefix, topics[name].name));
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: names })) {
      const known = partitions.filter(({ offset }) => Number(offset) > 0);
      const back = known.map(({ partition, offset }) => ({
        partition,
        offset: String(Math.max(0, Number(offset) - REWOUND_BY)),
      }));
      if (back.length === 0) continue;
      // The client joins the group for this. If brokers roll just then, its member stays until its session has ended.
      await untilEmpty(admin, groupId);
      await admin.setOffsets({ groupId, topic, partitions: back });
    }
  } finally {
    await admin.disconnect();
  }
}
