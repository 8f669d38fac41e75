import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCommand, UsageError } from './command';
import { USAGE } from './usage';

const ENV = { GATEWAY_ACCOUNT: 'demo_merchant', GATEWAY_PASSWORD: 'demo_password' };

function problemOf(args: string[], env: NodeJS.ProcessEnv = ENV): string {
  try {
    parseCommand(args, env);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  return 'none';
}

test.each([
  ['3000', 'http://localhost:3000/'],
  ['3000/callback', 'http://localhost:3000/callback'],
  ['localhost:3000/a?b=c', 'http://localhost:3000/a?b=c'],
  ['https://shop.test/x', 'https://shop.test/x'],
])('callbacks can be forwarded to %s', (given, href) => {
  const parsed = parseCommand(['listen', '--forward-to', given], ENV);
  expect(parsed).toMatchObject({
    command: { name: 'listen', target: expect.objectContaining({ href }) },
    settings: { url: 'http://127.0.0.1:8080', account: 'demo_merchant', password: 'demo_password' },
  });
});

test.each([
  ['90s', 90],
  ['30m', 1_800],
  ['2h', 7_200],
  ['3d', 259_200],
])('--since %s is %i seconds ago', (since, agoSeconds) => {
  const parsed = parseCommand(['listen', '--forward-to', '3000', '--since', since], ENV);
  expect(parsed).toMatchObject({ command: { agoSeconds } });
});

test('the password comes from a file, without its line end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-command-'));
  const file = join(folder, 'password');
  writeFileSync(file, 'from_a_file\n');
  const settings = { url: 'https://gate.example/v1', account: 'shop_one', password: 'from_a_file' };
  const args = ['events', '--url', 'https://gate.example/v1/', '--account', 'shop_one', '--password-file', file];
  expect(parseCommand(args, ENV)).toMatchObject({ settings });
  rmSync(folder, { recursive: true });
  expect(problemOf(args)).toMatch(/password file cannot be read/);
});

test('http to another machine has to be wanted', () => {
  const args = ['events', '--url', 'http://host.docker.internal:8080', '--allow-http'];
  expect(parseCommand(args, ENV)).toMatchObject({ settings: { url: 'http://host.docker.internal:8080' } });
});

test.each([[[]], [['help']], [['--help']], [['listen', '--help']]])('%j asks for help', (args) => {
  expect(parseCommand(args, {})).toBe('help');
});

test.each<[string[], NodeJS.ProcessEnv, RegExp]>([
  [['fly'], ENV, /no command "fly"/],
  [['listen'], ENV, /target is missing/],
  [['listen', '--forward-to', 'ftp://x'], ENV, /not an address to forward to/],
  [['listen', '--forward-to', '3000', '--since', '2 hours'], ENV, /not a duration such as/],
  [['listen', '--forward-to', '3000', 'more'], ENV, /Unexpected argument "more"/],
  [['trigger', 'rain'], ENV, /takes one of sale3d-success, /],
  [['resend'], ENV, /takes the id/],
  [['events', '--limit', '51'], ENV, /from 1 to 50/],
  [['events', '--unknown'], ENV, /unknown/],
  [['events', '--password', 'x'], ENV, /does not belong on the command line/],
  [['events'], { GATEWAY_PASSWORD: 'x' }, /at http:.*:8080 is missing: set GATEWAY_ACCOUNT/],
  [['events'], { GATEWAY_ACCOUNT: 'x' }, /for http:.*:8080 is missing: set GATEWAY_PASSWORD/],
  [['events', '--url', 'gate.example'], ENV, /not the address of a gateway/],
  [['events', '--url', 'http://gate.example'], ENV, /must begin with https/],
  [['events'], { ...ENV, GATEWAY_URL: 'http://localhost.gate.example' }, /must begin with https/],
])('%j is refused', (args, env, message) => {
  expect(problemOf(args, env)).toMatch(message);
});

test('the usage text fits a terminal', () => {
  for (const line of USAGE.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
});
