import RequestQueue from 'kafkajs/src/network/requestQueue';
import { quietRequestQueues } from './quiet-request-queue';

const schedule = (pending: readonly unknown[]): void => {
  const queue = Object.assign(Object.create(RequestQueue.prototype) as typeof RequestQueue.prototype, { pending });
  queue.scheduleCheckPendingRequests();
};

test('a connection looks for postponed requests only while there are any', () => {
  jest.useFakeTimers();
  schedule([]);
  // If this is 0 kafkajs has mended it, and the correction can go.
  expect(jest.getTimerCount()).toBe(1);
  jest.clearAllTimers();
  quietRequestQueues();
  quietRequestQueues();
  schedule([]);
  expect(jest.getTimerCount()).toBe(0);
  schedule(['postponed']);
  expect(jest.getTimerCount()).toBe(1);
  jest.useRealTimers();
});
