import { createHttpClient } from '@gateway/service-kit';
import { allTopics, readTopics } from '../support/topics';
import type { World } from './world';

export function deadLetterTopics({ surroundings }: World): string[] {
  return allTopics(surroundings.space).filter((name) => name.endsWith('.dlq'));
}

/**
 * Everything that the services have written or sent, as one text per place: databases, topics, logs, metrics, traces,
 * answers, callbacks, and what browsers brought back.
 */
export async function everythingWritten(world: World): Promise<Map<string, string>> {
  const { surroundings, storage, services, merchant, collector, answers } = world;
  const written = new Map<string, string>();
  for (const [name, documents] of await storage.everything()) written.set(name, JSON.stringify(documents));
  for (const message of await readTopics(surroundings.space, allTopics(surroundings.space))) {
    const name = message.topic.slice(surroundings.space.topicPrefix.length);
    written.set(name, `${written.get(name) ?? ''}${JSON.stringify(message)}\n`);
  }
  for (const [name, service] of services) {
    written.set(`the log of ${name}`, service.output());
    const { data } = await createHttpClient({ baseUrl: service.opsUrl, timeoutMs: 5_000 }).get<string>('/metrics');
    written.set(`the metrics of ${name}`, data);
  }
  written.set('traces', collector.bodies.join('\n'));
  written.set('answers', answers.join('\n'));
  written.set('callbacks', merchant.callbacks.map(String).join('\n'));
  written.set('returning browsers', merchant.returns.map(String).join('\n'));
  return written;
}
