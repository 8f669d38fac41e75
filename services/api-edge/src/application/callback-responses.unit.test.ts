import type { CallbackView } from '@gateway/contracts';
import { callbackRecord } from './callback-responses';

const CALLBACK: CallbackView = {
  id: 'delivery-1',
  kind: 'card',
  reference: '0123456789ABCDEF0001',
  transactionUniqueId: 'order-1',
  url: 'https://shop.example.com/callback',
  state: 'pending',
  createdAt: 1_798_000_000_000,
  attempts: [],
};

const attemptWith = (httpStatus: number) =>
  callbackRecord({
    ...CALLBACK,
    attempts: [{ startedAt: 1_798_000_000_000, acknowledged: false, httpStatus, durationMs: 3 }],
  });

test.each([100, 200, 999])('an attempt shows the status %d', (httpStatus) => {
  expect(attemptWith(httpStatus)).toMatchObject({ attempts: [{ acknowledged: false, http_status: httpStatus }] });
});

test.each([0, 99])('a status that is none, such as %d, is left out', (httpStatus) => {
  expect(attemptWith(httpStatus)).toMatchObject({
    attempts: [{ timestamp: 1_798_000_000, acknowledged: false, duration_ms: 3 }],
  });
  expect(JSON.stringify(attemptWith(httpStatus))).not.toContain('http_status');
});
