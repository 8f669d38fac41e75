import { parseArguments, runCli } from './command-line';

const HASH = 'a'.repeat(64);

it.each([
  [['list'], { name: 'list', query: { limit: 50 } }],
  [
    ['list', '--operator', 'alice', '--action', 'account.close', '--subject', 'acme_shop', '--limit', '7'],
    { name: 'list', query: { operator: 'alice', action: 'account.close', subject: 'acme_shop', limit: 7 } },
  ],
  [
    ['list', '--since', '2026-01-01', '--until', '2026-01-02T03:04:05Z', '--before', '12'],
    {
      name: 'list',
      query: { limit: 50, since: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 0, 2, 3, 4, 5), before: 12 },
    },
  ],
  [['check'], { name: 'check' }],
  [['verify'], { name: 'verify', takesUnsigned: false }],
  [['verify', '--anchors', 'gateway.log'], { name: 'verify', anchors: 'gateway.log', takesUnsigned: false }],
  [['verify', '--unsigned', '--anchors', '-'], { name: 'verify', anchors: '-', takesUnsigned: true }],
  [
    ['verify', '--expect', `17:${HASH}`],
    { name: 'verify', expected: { sequence: 17, hash: HASH }, takesUnsigned: false },
  ],
])('understands %j', (args, command) => {
  expect(parseArguments(args)).toEqual(command);
});

it.each([
  [[]],
  [['remove']],
  [['list', '--limit', '0']],
  [['list', '--limit', '501']],
  [['list', '--action', 'account.destroy']],
  [['list', '--since', 'yesterday']],
  [['list', '--operator']],
  [['verify', '--expect', '17']],
  [['verify', '--expect', `0:${HASH}`]],
  [['verify', '17']],
  [['verify', '--anchors', '--unsigned']],
  [['check', '--expect', `17:${HASH}`]],
])('refuses %j', async (args) => {
  const lines: string[] = [];
  expect(await runCli(args, {}, (line) => lines.push(line))).toBe(2);
  expect(lines.join('\n')).toContain('usage: npm run audit');
});
