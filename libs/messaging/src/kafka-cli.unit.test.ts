import { services, usersOf } from '@gateway/contracts';
import { neededAccess } from './acls';
import { parseArguments, runKafkaCli } from './kafka-cli';

test.each([
  [['topics'], { name: 'topics' }],
  [['grow', '--partitions', '24'], { name: 'grow', partitions: 24 }],
  [['grow', '--partitions', '500'], { name: 'grow', partitions: 500 }],
  [['acls'], { name: 'acls', apply: false, principal: 'User:{user}' }],
  [['acls', '--apply'], { name: 'acls', apply: true, principal: 'User:{user}' }],
  [['acls', '--apply', '--principal', 'User:CN={user}'], { name: 'acls', apply: true, principal: 'User:CN={user}' }],
  [['acls', '--principal', 'User:live-{user}'], { name: 'acls', apply: false, principal: 'User:live-{user}' }],
])('%j is understood', (args, command) => {
  expect(parseArguments(args)).toEqual(command);
});

test.each([
  [[]],
  [['list']],
  [['topics', 'all']],
  [['create']],
  [['grow']],
  [['grow', '24']],
  [['grow', '--partitions', '0']],
  [['grow', '--partitions', '501']],
  [['grow', '--partitions', '-3']],
  [['grow', '--partitions', '24', '--force']],
  [['acls', '--principal']],
  [['acls', '--principal', 'User:everyone']],
  [['acls', '--principal', '{user}']],
  [['acls', 'apply']],
  [['acls', '--apply', '--force']],
])('%j makes no sense', async (args) => {
  expect(parseArguments(args)).toBeUndefined();
  const printed: string[] = [];
  expect(await runKafkaCli(args, { KAFKA_BROKERS: '127.0.0.1:9' }, (line) => printed.push(line))).toBe(2);
  expect(printed.join('\n')).toContain('usage: npm run kafka');
});

test('acls lists what the users need, without asking a broker', async () => {
  const printed: string[] = [];
  const env = { KAFKA_BROKERS: '127.0.0.1:9', TOPIC_PREFIX: 'live.' };
  expect(await runKafkaCli(['acls'], env, (line) => printed.push(line))).toBe(0);
  expect(printed.filter((line) => line.startsWith('User:payout\t'))).toEqual([
    'User:payout\tread\tgroup\tlive.payout',
    'User:payout\tread\ttopic\tlive.payout.commands.v1',
    'User:payout\tread\ttopic\tlive.dead-letter.replays.v1',
    'User:payout\tread\ttopic\tlive.payout.commands.dlq.v1',
    'User:payout\twrite\ttopic\tlive.payout.events.v1',
    'User:payout\twrite\ttopic\tlive.payout.commands.dlq.v1',
  ]);
  expect(printed).toContain('User:auth-expiry\tdescribe\tgroup\tlive.card-processing');
  expect(printed).toContain('User:dlq\tread\tgroup\tlive.dead-letters-*');
});

test.each([
  ['card.commands.v1', ['api-edge']],
  ['payout.commands.v1', ['api-edge']],
  ['card.expiries.v1', ['auth-expiry']],
  ['card.commands.dlq.v1', ['card-processing']],
  ['payout.commands.dlq.v1', ['payout']],
  ['dead-letter.replays.v1', ['dlq']],
])('%s is written by %j alone', (name, writers) => {
  const mayWrite = neededAccess().filter((access) => access.operation === 'write' && access.name === name);
  expect(mayWrite.map(({ user }) => user)).toEqual(
    writers.flatMap((name) => (name === 'dlq' ? [name] : usersOf({ name }))),
  );
});

test('both users of a service may do the same', () => {
  for (const { name } of Object.values(services)) {
    const rightsOf = (one: string) =>
      neededAccess('live.').flatMap(({ user, ...right }) => (user === one ? [right] : []));
    expect(rightsOf(`${name}-b`)).toEqual(rightsOf(name));
  }
});

test('no service may read or write all topics, and none may change them', () => {
  for (const { name } of Object.values(services)) {
    const own = neededAccess().filter(({ user }) => user === name);
    expect(own.map((access) => access.name).filter((all) => all.endsWith('*') && all !== `${name}.*`)).toEqual([]);
    expect(own.every(({ operation }) => ['read', 'write', 'describe'].includes(operation))).toBe(true);
  }
});
