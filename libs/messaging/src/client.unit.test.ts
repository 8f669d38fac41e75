import dns from 'node:dns';
import type { Logger } from '@gateway/service-kit';
import { createKafka } from './client';

jest.mock('node:dns', () => ({ ...jest.requireActual<typeof dns>('node:dns'), lookup: jest.fn() }));

function recorder() {
  const lines: { level: string; message: string; fields: Record<string, unknown> | undefined }[] = [];
  const at =
    (level: string) =>
    (message: string, fields?: Record<string, unknown>): void =>
      void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return { lines, logger };
}

test.each([
  ['error', 'Response Heartbeat(key: 12, version: 3)', 'The group is rebalancing, so a rejoin is needed', 'info'],
  ['error', 'Response OffsetCommit(key: 8)', 'Specified group generation id is not valid', 'info'],
  ['warn', 'The group is rebalancing, re-joining', undefined, 'info'],
  ['error', 'Connection error: connect ECONNREFUSED', undefined, 'error'],
  ['warn', 'Response without match', undefined, 'warn'],
  ['info', 'Pausing fetching from 1 topics', undefined, 'debug'],
  ['info', 'Consumer has joined the group', undefined, 'info'],
] as const)("kafkajs' %s '%s' (%s) is our %s", (level, message, error, expected) => {
  const { lines, logger } = recorder();
  const kafka = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger });
  kafka.logger()[level](message, { error, topic: 't', payload: { card: 'secret' } });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: expected, message, fields: { topic: 't' } });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('a broker whose name nobody resolves is looked up once, however many connections need it', async () => {
  const kafka = createKafka({ brokers: ['broker.test:9092'], clientId: 'test', logger: recorder().logger });
  const admins = [1, 2, 3].map(() => kafka.admin({ retry: { retries: 0 } }));
  await Promise.all(admins.map((admin) => expect(admin.connect()).rejects.toThrow('Connection timeout')));
  expect(jest.mocked(dns.lookup).mock.calls.map(([hostname]) => hostname)).toEqual(['broker.test']);
});
