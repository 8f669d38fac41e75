import { DEFAULT_PARTITIONS } from '@gateway/contracts';
import { createPublisher, growTopics, on } from '../src';
import type { Publisher } from '../src';
import type { Installation } from './support';
import { install, logger, newMetrics, numbered, Numbered, sum, until } from './support';

const COMMANDS = 'card.commands.v1';
const GROWN = 2 * DEFAULT_PARTITIONS;
const AGGREGATES = 60;
const ASIDE = 'aside';
/** How long consumers have to notice new partitions, and a bit more until keys move there. */
const METADATA_MAX_AGE_MS = 200;
const NEW_PARTITIONS_AFTER_MS = 10_000;

let kafka: Installation;
const publishers: Publisher[] = [];

beforeEach(async () => (kafka = await install('growth')));
afterEach(async () => {
  for (const publisher of publishers.splice(0)) await publisher.stop();
  await kafka.close();
});

async function startPublisher(): Promise<Publisher> {
  const publisher = createPublisher({
    kafka: kafka.client(),
    source: 'test',
    topicPrefix: kafka.prefix,
    metrics: newMetrics(),
    logger,
    limits: { newPartitionsAfterMs: NEW_PARTITIONS_AFTER_MS },
  });
  publishers.push(publisher);
  await publisher.start();
  return publisher;
}

/** Takes each aggregate's messages in order of their versions: early ones wait for those before them. */
function createOrderedReader() {
  const next = new Map<string, number>();
  const early = new Map<string, Set<number>>();
  return {
    take(key: string, version: number): void {
      const wanted = next.get(key) ?? 0;
      if (version < wanted) return;
      const waiting = early.get(key) ?? new Set();
      early.set(key, waiting.add(version));
      let applied = wanted;
      while (waiting.delete(applied)) applied += 1;
      next.set(key, applied);
    },
    applied: (key: string) => next.get(key) ?? 0,
    waiting: () => sum([...early.values()].map(({ size }) => size)),
  };
}

test('topics grow while messages flow: nothing is lost, and versions put each aggregate in order', async () => {
  const reader = createOrderedReader();
  let readNewOnes = false;
  let moved = 0;
  let movedEarly = 0;
  const handler = on(Numbered, async ({ key, partition, data, aggregateVersion }) => {
    if (key === ASIDE) {
      readNewOnes = true;
      return;
    }
    expect(aggregateVersion).toBe(data.n);
    if (partition >= DEFAULT_PARTITIONS) moved += 1;
    if (partition >= DEFAULT_PARTITIONS && !readNewOnes) movedEarly += 1;
    reader.take(key, data.n);
  });
  const limits = { metadataMaxAgeMs: METADATA_MAX_AGE_MS };
  const workers = [1, 2].map(() => kafka.worker({ handlers: [handler], limits }));
  for (const worker of workers) await worker.start();
  // Two replicas alternate on every aggregate, and notice the new partitions at different times.
  const turns = [await startPublisher(), await startPublisher()];

  let flowing = true;
  const published = new Map<string, number>();
  const flow = async (key: string): Promise<void> => {
    for (let version = 0; flowing; version += 1) {
      const publisher = turns[version % turns.length] as Publisher;
      await publisher.publish({ ...numbered(key, version), aggregateVersion: version });
      published.set(key, version + 1);
    }
  };
  const flows = Array.from({ length: AGGREGATES }, (_, index) => flow(`aggregate-${index}`));
  await until('messages flow', () => published.size === AGGREGATES);

  const grown = await growTopics({ kafka: kafka.client(), prefix: kafka.prefix, partitions: GROWN });
  expect(grown).toContain(kafka.prefix + COMMANDS);
  // An explicit partition that a publisher does not know makes it look at once; otherwise it looks once a minute.
  // A busy broker takes seconds until it leads them.
  for (const publisher of turns) {
    const aside = { ...numbered(ASIDE, 0), partition: GROWN - 1 };
    await until('it is published', () =>
      publisher.publish(aside).then(
        () => true,
        () => false,
      ),
    );
  }
  await until('keys have moved', () => moved > AGGREGATES);
  flowing = false;
  await Promise.all(flows);

  const isApplied = ([key, count]: [string, number]): boolean => reader.applied(key) === count;
  await until('all is applied', () => [...published].every(isApplied));
  expect(reader.waiting()).toBe(0);
  expect(movedEarly).toBe(0);
  for (const worker of workers) expect(worker.failures).toEqual([]);
}, 120_000);
