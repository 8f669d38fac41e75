import RequestQueue from 'kafkajs/src/network/requestQueue';
import { quietRequestQueues } from './quiet-request-queue';

const schedule = (pending: readonly unknown[]): void => {
  const queue = Object.assign(Object.create(RequestQueue.prototype) as typeof RequestQueue.prototype, { pending });
  queue.scheduleCheckPendingRequests();
};

test('a connection looks for postponed requests only while there are any', () => {
  jest.useFakeTimers();
  schedule([]);
  // If this is 0 kafkajs has fixed it, and the correction can go.
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

describe('time-outs of requests', () => {
  const late = jest.fn();

  function watch(connected: () => boolean): void {
    const request = { sentAt: Date.now(), requestTimeout: 10_000, timeoutRequest: late };
    const queue = Object.assign(Object.create(RequestQueue.prototype) as typeof RequestQueue.prototype, {
      enforceRequestTimeout: true,
      inflight: new Map([[1, request]]),
      isConnected: connected,
    });
    queue.scheduleRequestTimeoutCheck();
  }

  beforeEach(() => {
    jest.useFakeTimers();
    late.mockClear();
    quietRequestQueues();
  });
  afterEach(() => void jest.useRealTimers());

  test('a late request fails, within a second', () => {
    watch(() => true);
    jest.advanceTimersByTime(10_000);
    expect(late).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(late).toHaveBeenCalledTimes(1);
  });

  test('a connection is looked at once a second, while it is open', () => {
    const connected = jest.fn(() => true);
    watch(connected);
    jest.advanceTimersByTime(3_000);
    expect(connected).toHaveBeenCalledTimes(3);
    connected.mockReturnValue(false);
    jest.advanceTimersByTime(1_000);
    expect(jest.getTimerCount()).toBe(0);
  });
});
