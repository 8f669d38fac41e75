import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OperatorCommands } from './operator-commands';
import { parseId, parseOptions, runOperatorCommand } from './operator-commands';

const server = createServer((request, response) => {
  const status = Number(request.url?.slice(1));
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status === 200 ? { asked: request.headers.authorization } : { error: 'not so' }));
});
const TOKEN = 'an-identity-token-of-at-least-32-characters';
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function run(
  args: readonly string[],
  { env, ...change }: Partial<OperatorCommands<{ name: string }>> = {},
): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const commands: OperatorCommands<{ name: string }> = {
    usage: 'usage',
    service: 'the service',
    address: { setting: 'QUERY_URL', default: 'http://127.0.0.1:1' },
    env: { IDENTITY_TOKEN: TOKEN, QUERY_URL: url, ...env },
    timeoutMs: 2_000,
    parse: ([name]) => (name === undefined ? undefined : { name }),
    execute: async ({ name }, { ask }, print) => print(JSON.stringify(await ask('GET', `/${name}`))),
    ...change,
  };
  return { code: await runOperatorCommand(args, commands, (line) => lines.push(line)), text: lines.join('\n') };
}

test('the exit code gives the result of a command, and its output the reason', async () => {
  expect(await run(['200'])).toEqual({ code: 0, text: `{"asked":"Bearer ${TOKEN}"}` });
  expect(await run(['404'])).toEqual({ code: 1, text: '404 failed: not so' });
  expect(await run(['400'])).toEqual({ code: 2, text: '400 failed: not so' });
  expect(await run([])).toEqual({ code: 2, text: 'usage' });
  expect(await run(['help'])).toEqual({ code: 0, text: 'usage' });
});

test('an unreachable gateway is reported', async () => {
  const { code, text } = await run(['200'], { env: { QUERY_URL: '' } });
  expect(code).toBe(1);
  expect(text).toBe('200 failed: the service does not answer at http://127.0.0.1:1: is the gateway running?');
});

test('a malformed token is named', async () => {
  const { code, text } = await run(['200'], { env: { IDENTITY_TOKEN: 'short' } });
  expect(code).toBe(2);
  expect(text).toMatch(/^200 failed: Configuration: IDENTITY_TOKEN must NOT have fewer than 32 characters/);
});

test('invalid arguments and addresses are named', async () => {
  const confused = await run(['list', '--foo'], { parse: () => undefined });
  expect(confused).toEqual({ code: 2, text: 'Wrong arguments: list --foo\nusage' });
  const lost = await run(['200'], { env: { QUERY_URL: 'nonsense' } });
  expect(lost).toEqual({ code: 2, text: expect.stringContaining('200 failed: Configuration: QUERY_URL must match') });
});

test('in production a token does not leave by HTTP, also not on this machine, but for the time of a change-over', async () => {
  const refused = `NODE_ENV is production, where this is refused. QUERY_URL is ${url}, which is not HTTPS.`;
  const production = { NODE_ENV: 'production' };
  expect(await run(['200'], { env: production })).toEqual({ code: 2, text: `200 failed: ${refused}` });
  expect(await run(['200'], { env: { ...production, ALLOW_PLAIN_INTERNAL_PORTS: 'yes' } })).toMatchObject({ code: 0 });
});

test('options are pairs of known names and values; an id is a single argument', () => {
  expect(parseOptions(['--limit', '5'], ['limit'])).toEqual({ limit: '5' });
  for (const wrong of [['--limit'], ['--other', '5'], ['limit', '5']]) {
    expect(parseOptions(wrong, ['limit'])).toBeUndefined();
  }
  expect(parseId(['x'])).toBe('x');
  for (const wrong of [[], ['--x'], ['x', 'y']]) expect(parseId(wrong)).toBeUndefined();
});
