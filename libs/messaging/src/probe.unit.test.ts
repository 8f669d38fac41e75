import { createLogger } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import { createBrokerProbe } from './probe';

const logger = createLogger({ service: 'test', level: 'silent' });

/** Brokers that answer or not, as the test says. */
function playedBrokers() {
  const state = { answering: true, connects: 0 };
  const admin = {
    connect: async () => void (state.connects += 1),
    disconnect: async () => undefined,
    describeCluster: async () => {
      if (!state.answering) throw new Error('connection refused');
      return { brokers: [], controller: 1, clusterId: 'c' };
    },
  };
  return { state, kafka: { admin: () => admin } as unknown as KafkaClient };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('brokers that stop answering are noticed, and so is their return', async () => {
  const { state, kafka } = playedBrokers();
  const probe = createBrokerProbe({ kafka, logger });
  expect(probe.available()).toBe(false);
  await probe.start();
  expect(probe.available()).toBe(true);
  state.answering = false;
  await jest.advanceTimersByTimeAsync(1_500);
  expect(probe.available()).toBe(false);
  expect(state.connects).toBeGreaterThan(1);
  state.answering = true;
  await jest.advanceTimersByTimeAsync(1_500);
  expect(probe.available()).toBe(true);
  await probe.stop();
});
