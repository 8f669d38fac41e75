import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCli } from './run';

test('an error of the gateway names the address that was asked', async () => {
  const refusal = {
    api_version: 1,
    status: 'error',
    code: 1004,
    message: 'Invalid limit in request message',
    errors: [{ field: 'limit', code: 1004, message: 'Invalid limit in request message', hint: 'Send 1 to 100' }],
  };
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(refusal));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await eventsAt(url)).toBe(
      `${url}: The gateway refuses: Invalid limit in request message (1004). Send 1 to 100`,
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  // Nothing listens there any more.
  expect(await eventsAt(url)).toMatch(`${url}: The gateway does not answer`);
});

async function eventsAt(url: string): Promise<string> {
  const warnings: string[] = [];
  const terminal = { print: () => undefined, warn: (line: string) => void warnings.push(line) };
  const env = { GATEWAY_URL: url, GATEWAY_ACCOUNT: 'shop_one', GATEWAY_PASSWORD: 'a_password' };
  expect(await runCli(['events'], env, terminal)).toBe(1);
  return warnings.join('\n');
}
