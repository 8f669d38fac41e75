import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kafkaSchema, loadConfig } from '@gateway/service-kit';
import { kafkaConnection } from './connection';

const directory = mkdtempSync(join(tmpdir(), 'kafka-connection-'));
afterAll(() => rmSync(directory, { recursive: true }));

const connection = (env: Record<string, string>) =>
  kafkaConnection(loadConfig(kafkaSchema, { KAFKA_BROKERS: 'a:1', ...env }));

test('by default: plaintext, as nobody', () => {
  expect(connection({ KAFKA_BROKERS: 'a:1, b:2' })).toEqual({ brokers: ['a:1', 'b:2'] });
});

const CHECKED = { rejectUnauthorized: true, minVersion: 'TLSv1.2' };

test('TLS, with the authorities of a file that is read for each connection', () => {
  const file = join(directory, 'ca.pem');
  writeFileSync(file, 'first');
  const { tls } = connection({ KAFKA_TLS: 'on', KAFKA_CA_FILE: file });
  expect(tls?.()).toMatchObject({ ...CHECKED, ca: Buffer.from('first') });
  writeFileSync(file, 'second');
  expect(tls?.()).toMatchObject({ ...CHECKED, ca: Buffer.from('second') });
  expect(connection({ KAFKA_TLS: 'on' }).tls?.()).toMatchObject(CHECKED);
});

test('a user with a password', () => {
  expect(connection({ KAFKA_USER: 'payout', KAFKA_PASSWORD: 'secret' }).sasl).toMatchObject({
    mechanism: 'scram-sha-512',
  });
});

test.each([
  [{ KAFKA_USER: 'payout' }, 'Configuration: KAFKA_USER needs KAFKA_PASSWORD.'],
  [{ KAFKA_PASSWORD: 'secret' }, 'Configuration: KAFKA_PASSWORD needs KAFKA_USER.'],
  [{ KAFKA_TLS: 'yes' }, 'KAFKA_TLS'],
])('%j does not do: %s', (env, problem) => {
  expect(() => connection(env)).toThrow(problem);
});

test('all problems are named at once', () => {
  const env = { KAFKA_USER: 'payout', KAFKA_CERT_FILE: join(directory, 'none.pem') };
  expect(() => connection(env)).toThrow(
    /^Configuration: KAFKA_USER needs KAFKA_PASSWORD; KAFKA_CERT_FILE needs KAFKA_KEY_FILE; KAFKA_CERT_FILE needs KAFKA_TLS=on; the files of .* cannot be used: .*ENOENT.*none\.pem'\.$/,
  );
});
