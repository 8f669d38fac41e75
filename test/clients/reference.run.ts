import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { snippetsOf } from '@gateway/api-edge/dist/adapters/reference/snippets';
import { run, succeed } from '../support/packed-client';

/** The examples of the API reference, as a merchant would copy them. */

const COMMANDS: Record<string, readonly [file: string, command: string, ...args: string[]]> = {
  curl: ['example.sh', 'bash', 'example.sh'],
  Node: ['example.mjs', process.execPath, 'example.mjs'],
  Python: ['example.py', 'python3', 'example.py'],
  PHP: ['example.php', 'php', 'example.php'],
  Java: ['Main.java', 'java', 'Main.java'],
  Go: ['example.go', 'go', 'run', 'example.go'],
};
/** With what one of the languages would read as its own. */
const REQUEST = {
  api_version: 1,
  merchant_account: 'demo_merchant',
  card_holder: `Zoë O'Hara "Ltd" \\n \`x\` $y """ 100%`,
  currency: 'XTS',
};

let directory: string;
let server: Server;
const received: unknown[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-snippets-'));
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push([request.method, request.headers['content-type'], await json(request)]);
    response.setHeader('content-type', 'application/json').end('{"status":"success"}');
  };
  server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(directory, { recursive: true });
});

test.each(Object.keys(COMMANDS))(
  'the example in %s sends the request and prints the answer',
  async (language) => {
    const [file = '', command = '', ...args] = COMMANDS[language] ?? [];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/example`;
    const snippet = snippetsOf(url, REQUEST).find((one) => one.language === language);
    writeFileSync(join(directory, file), snippet?.text ?? '');
    expect(await succeed(run(command, args, directory))).toContain('success');
    expect(received.pop()).toEqual(['POST', 'application/json', REQUEST]);
  },
  60_000,
);
