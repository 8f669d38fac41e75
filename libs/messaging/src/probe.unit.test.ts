import { createLogger } from '@gateway/service-kit';
import { playedCluster } from '../test/played-cluster';
import { createBrokerProbe } from './probe';

const logger = createLogger({ service: 'test', level: 'silent' });

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('brokers that stop answering are noticed, and so is their return', async () => {
  const cluster = playedCluster({ nodeIds: [1, 2], topics: { 'card.commands.v1': 1 } });
  const probe = createBrokerProbe({ kafka: cluster.kafka, logger });
  expect(probe.available()).toBe(false);
  await probe.start();
  expect(probe.available()).toBe(true);
  cluster.down.add(1).add(2);
  await jest.advanceTimersByTimeAsync(1_500);
  expect(probe.available()).toBe(false);
  cluster.down.clear();
  await jest.advanceTimersByTimeAsync(1_500);
  expect(probe.available()).toBe(true);
  await probe.stop();
});

test('one answering broker is enough while the others are frozen or dead', async () => {
  const cluster = playedCluster({ nodeIds: [1, 2, 3], topics: { 'card.commands.v1': 1 } });
  const probe = createBrokerProbe({ kafka: cluster.kafka, logger });
  await probe.start();
  cluster.frozen.add(1);
  cluster.down.add(2);
  for (let second = 0; second < 10; second += 1) {
    await jest.advanceTimersByTimeAsync(1_000);
    expect(probe.available()).toBe(true);
  }
  await probe.stop();
});
