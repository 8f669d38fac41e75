import { readSettings } from './settings';

const brokers = { KAFKA_BROKERS: 'a:9092, b:9092' };

test('by default: plaintext, as nobody', () => {
  expect(readSettings({ ...brokers, ANALYTICS_DIR: '/data' })).toEqual({
    kafka: { brokers: ['a:9092', 'b:9092'] },
    topicPrefix: '',
    group: 'analytics',
    directory: '/data',
    batchBytes: 1_048_576,
  });
});

test('as a user, over TLS', () => {
  const env = {
    ...brokers,
    KAFKA_TLS: 'on',
    KAFKA_CA_FILE: __filename,
    KAFKA_USER: 'analytics',
    KAFKA_PASSWORD: 'secret',
  };
  expect(readSettings(env).kafka).toMatchObject({
    ssl: { ca: expect.stringContaining('over TLS') },
    sasl: { mechanism: 'scram-sha-512', username: 'analytics', password: 'secret' },
  });
});

test.each([
  [{}, 'KAFKA_BROKERS must be'],
  [{ KAFKA_BROKERS: 'a' }, 'KAFKA_BROKERS must be'],
  [{ ...brokers, KAFKA_USER: 'analytics' }, 'KAFKA_USER and KAFKA_PASSWORD'],
  [{ ...brokers, KAFKA_CA_FILE: __filename }, 'need KAFKA_TLS=on'],
  [{ ...brokers, KAFKA_TLS: 'on', KAFKA_CERT_FILE: __filename }, 'need each other'],
  [{ ...brokers, KAFKA_TLS: 'on', KAFKA_CA_FILE: '/none.pem' }, '/none.pem cannot be read'],
  [{ ...brokers, ANALYTICS_BATCH_BYTES: '1e9.5' }, 'ANALYTICS_BATCH_BYTES must be'],
])('%j: %s', (env, problem) => {
  expect(() => readSettings(env)).toThrow(problem);
});

test('all problems are named at once', () => {
  const env = { KAFKA_PASSWORD: 'secret', ANALYTICS_BATCH_BYTES: '1' };
  expect(() => readSettings(env)).toThrow(/^KAFKA_BROKERS .+\. KAFKA_USER .+\. ANALYTICS_BATCH_BYTES .+\.$/);
});
