import { ConfigurationError, loadConfig } from '@gateway/service-kit';
import { retryScheduleOf, settings } from './config';

const ENV = {
  KAFKA_BROKERS: 'localhost:9092',
  MONGODB_URI: 'mongodb://localhost',
  VAULT_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  CARD_QUERY_URL: 'http://localhost',
  PAYOUT_QUERY_URL: 'http://localhost',
};
const scheduleIn = (env: Record<string, string>) => retryScheduleOf(loadConfig(settings, { ...ENV, ...env }));

describe('CALLBACK_RETRY_SCHEDULE', () => {
  it('has 12 retries in about 74 hours by default', () => {
    const seconds = scheduleIn({});
    expect(seconds).toEqual(Array.from({ length: 12 }, (_, index) => 3 ** index));
    expect(Math.round(seconds.reduce((a, b) => a + b) / 3600)).toBe(74);
  });
  it('has seconds, separated by commas', () => {
    expect(scheduleIn({ CALLBACK_RETRY_SCHEDULE: '10,30' })).toEqual([10, 30]);
  });
  it.each(['1,', ',1', '1;2', '-1', '1.5', 'x', '12345678', Array(51).fill('1').join(',')])(
    'must not be "%s"',
    (text) => expect(() => scheduleIn({ CALLBACK_RETRY_SCHEDULE: text })).toThrow(ConfigurationError),
  );
});
