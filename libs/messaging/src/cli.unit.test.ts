import { parseArguments, runCli } from './cli';

test.each([
  [['list'], { name: 'list', limit: 50 }],
  [['list', '--limit', '5', '--topic', 't'], { name: 'list', limit: 5, topic: 't' }],
  [['show', 't', '0', '12'], { name: 'show', topic: 't', partition: 0, offset: 12 }],
  [['replay', 't', '3', '0'], { name: 'replay', topic: 't', partition: 3, offset: 0 }],
])('%j', (args, command) => {
  expect(parseArguments(args)).toEqual(command);
});

test.each([
  [[]],
  [['delete']],
  [['list', '--limit']],
  [['list', '--limit', '0']],
  [['list', '--limit', '501']],
  [['list', '--limit', 'many']],
  [['show', 't', '0']],
  [['show', 't', '0', '-1']],
  [['replay', 't', 'x', '1']],
  [['replay', 't', '0', '1', 'more']],
])('%j shows the usage and exits 2', async (args) => {
  const lines: string[] = [];
  expect(await runCli(args, { KAFKA_BROKERS: '127.0.0.1:1' }, (line) => lines.push(line))).toBe(2);
  expect(lines.join()).toContain('usage: npm run dlq');
});

test('without brokers it says so', async () => {
  const lines: string[] = [];
  expect(await runCli(['list'], {}, (line) => lines.push(line))).toBe(2);
  expect(lines).toEqual(['list failed: Configuration: KAFKA_BROKERS is not set.']);
});
