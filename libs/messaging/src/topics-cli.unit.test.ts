import { parseArguments, runTopicsCli } from './topics-cli';

test.each([
  [['list'], { name: 'list' }],
  [['grow', '--partitions', '24'], { name: 'grow', partitions: 24 }],
  [['grow', '--partitions', '500'], { name: 'grow', partitions: 500 }],
])('%j is understood', (args, command) => {
  expect(parseArguments(args)).toEqual(command);
});

test.each([
  [[]],
  [['list', 'all']],
  [['grow']],
  [['grow', '24']],
  [['grow', '--partitions', '0']],
  [['grow', '--partitions', '501']],
  [['grow', '--partitions', '-3']],
  [['grow', '--partitions', '24', '--force']],
  [['shrink', '--partitions', '6']],
])('%j makes no sense', async (args) => {
  expect(parseArguments(args)).toBeUndefined();
  const printed: string[] = [];
  expect(await runTopicsCli(args, { KAFKA_BROKERS: '127.0.0.1:9' }, (line) => printed.push(line))).toBe(2);
  expect(printed.join('\n')).toContain('usage: npm run topics');
});
