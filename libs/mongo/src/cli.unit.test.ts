import { services } from '@gateway/contracts';
import { parseArguments, runMongoCli } from './cli';
import { neededRoles } from './roles';

const NOWHERE = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=50';

async function run(args: readonly string[], input = '', uri = NOWHERE, profile = 'development') {
  const lines: string[] = [];
  const env = { NODE_ENV: profile, MONGODB_URI: uri, DATABASE_PREFIX: 'live-' };
  const exitCode = await runMongoCli(
    args,
    env,
    (line) => lines.push(line),
    async () => input,
  );
  return { exitCode, lines };
}

test.each([
  [['roles'], { name: 'roles', apply: false }],
  [['roles', '--apply'], { name: 'roles', apply: true }],
  [['user', 'payout'], { name: 'user', user: 'payout' }],
])('%j is understood', (args, command) => {
  expect(parseArguments(args)).toEqual(command);
});

test.each([[[]], [['roles', 'all']], [['roles', '--apply', '--force']], [['user']], [['user', 'payout', 'secret']]])(
  '%j makes no sense',
  async (args) => {
    expect(parseArguments(args)).toBeUndefined();
    const { exitCode, lines } = await run(args);
    expect(exitCode).toBe(2);
    expect(lines.join('\n')).toContain('usage: npm run mongo');
  },
);

test('roles lists what the users need, without asking a server', async () => {
  const { exitCode, lines } = await run(['roles']);
  expect(exitCode).toBe(0);
  expect(lines.filter((line) => line.startsWith('live-payout\t'))).toEqual([
    'live-payout\tlive-payouts.*\tfind insert update remove listIndexes createIndex collMod',
    'live-payout\tlive-accounts.accounts\tfind',
    'live-payout\tlive-audit.entries\tfind insert',
  ]);
});

test('a service has all of its own database and only named collections of shared ones', () => {
  for (const { name, database } of Object.values(services)) {
    const role = neededRoles('').find((one) => one.name === name);
    const whole = role?.privileges.filter(({ collection }) => collection === undefined);
    expect(whole?.map((privilege) => privilege.database)).toEqual([database]);
  }
});

test('a service has two users, and a command line one', () => {
  const usersOfRole = (name: string) => neededRoles('live-').find((role) => role.name === `live-${name}`)?.users;
  expect(usersOfRole('payout')).toEqual(['live-payout', 'live-payout-b']);
  expect(usersOfRole('vault')).toEqual(['live-vault']);
});

test('only one user may make the index that removes audit entries, and nobody may remove or change one', () => {
  const onAudit = neededRoles('').flatMap(({ name, privileges }) =>
    privileges.filter(({ database }) => database === 'audit').map(({ actions }) => ({ name, actions })),
  );
  const beyond = onAudit.filter(({ actions }) =>
    actions.some((one) => !['find', 'insert', 'listIndexes'].includes(one)),
  );
  expect(beyond).toEqual([
    { name: 'callback-dispatcher', actions: ['find', 'insert', 'listIndexes', 'createIndex', 'collMod'] },
  ]);
});

test('a short password is refused, and so is an unknown user', async () => {
  expect(await run(['user', 'payout'], 'short\n')).toEqual({
    exitCode: 1,
    lines: ['user failed: a password has at least 16 characters'],
  });
  const { exitCode, lines } = await run(['user', 'payouts'], 'long enough, surely\n');
  expect([exitCode, lines[0]]).toEqual([
    1,
    expect.stringMatching(/^user failed: there is no user live-payouts; there are live-api-edge, live-api-edge-b, /),
  ]);
});

test('in production a user has a password of its own', async () => {
  const published = 'development-token-of-the-callback-dispatcher-0001';
  const uri = NOWHERE.replace('//', '//administrator:of-this-test-alone@');
  const { exitCode, lines } = await run(['user', 'payout'], `${published}\n`, uri, 'production');
  expect([exitCode, lines]).toEqual([1, ['user failed: this password is published with this software']]);
});
