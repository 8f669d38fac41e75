import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provisionSchemas } from './schema-registry';
import { readConfig } from './settings';

/** With a server that answers as the test says. test/clients runs it with a real registry. */
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

type Answer = readonly [status: number, body: object];

/** @returns its address, and every request: method, path, authorization */
async function serve(answer: (request: IncomingMessage) => Answer | undefined) {
  const requests: string[] = [];
  const listening = createServer((request, response) => {
    requests.push([request.method, request.url, request.headers.authorization].join(' '));
    const found = answer(request);
    if (found === undefined) return void request.socket.destroy();
    response.writeHead(found[0], { 'content-type': 'application/json' }).end(JSON.stringify(found[1]));
  });
  server = listening;
  await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`, requests };
}

const BASE = { NODE_ENV: 'test', KAFKA_BROKERS: '127.0.0.1:1', MONGODB_URI: 'mongodb://127.0.0.1:1' };

async function upload(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  await provisionSchemas({ config: readConfig({ ...BASE, ...env }), print: (line) => void lines.push(line) });
  return lines;
}

test('without a registry nothing is said or done', async () => {
  expect(await upload({})).toEqual([]);
});

test('it names itself by HTTP Basic, with a password from a file', async () => {
  const { url, requests } = await serve(() => [200, { id: 1 }]);
  const folder = mkdtempSync(join(tmpdir(), 'registry-password-'));
  try {
    const file = join(folder, 'password');
    writeFileSync(file, 'opens:it\n');
    await upload({ SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_USER: 'uploader', SCHEMA_REGISTRY_PASSWORD_FILE: file });
  } finally {
    rmSync(folder, { recursive: true });
  }
  const basic = `Basic ${Buffer.from('uploader:opens:it').toString('base64')}`;
  expect(new Set(requests.map((request) => request.split(' ').slice(2).join(' ')))).toEqual(new Set([basic]));
});

test('a new subject becomes FORWARD before its first version; one that exists keeps its level', async () => {
  const isNew = (path: string | undefined): boolean => path === '/subjects/card.events.v1-CardCharged';
  const { url, requests } = await serve(({ method, url: path = '' }) => {
    if (method === 'PUT' || path.endsWith('/versions')) return [200, { id: 1 }];
    return [404, { error_code: isNew(path) ? 40_401 : 40_403 }];
  });
  await upload({ SCHEMA_REGISTRY_URL: url });
  expect(requests.filter((request) => request.includes('CardCharged'))).toEqual([
    'POST /subjects/card.events.v1-CardCharged ',
    'PUT /config/card.events.v1-CardCharged ',
    'POST /subjects/card.events.v1-CardCharged/versions ',
  ]);
  expect(requests.filter((request) => request.startsWith('PUT'))).toHaveLength(1);
});

test.each<[string, Answer | undefined, string]>([
  ['a refused user', [401, { message: 'who?' }], 'cannot be asked for by the schema registry: HTTP 401, "who?"'],
  ['an answer without a reason', [500, {}], 'HTTP 500, "no reason"'],
  ['a long reason', [500, { message: 'x'.repeat(9_999) }], `HTTP 500, "${'x'.repeat(300)}"`],
  ['a broken connection', undefined, 'the schema registry does not answer at http://127.0.0.1:'],
])('%s is one sentence', async (_what, answer, sentence) => {
  const { url } = await serve(() => answer);
  await expect(upload({ SCHEMA_REGISTRY_URL: url })).rejects.toThrow(sentence);
});

test.each([
  [{ SCHEMA_REGISTRY_USER: 'uploader' }, 'SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD need each other'],
  [{ SCHEMA_REGISTRY_URL: 'http://registry.test' }, 'neither HTTPS nor on this machine'],
  [{ SCHEMA_REGISTRY_URL: 'https://user:secret@registry.test' }, 'SCHEMA_REGISTRY_URL must match pattern'],
])('settings %o are refused', (env, why) => {
  expect(() => readConfig({ ...BASE, ...env })).toThrow(why);
});

test('production calls it by HTTPS alone', () => {
  const env = { ...BASE, NODE_ENV: 'production', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081' };
  expect(() => readConfig(env)).toThrow('SCHEMA_REGISTRY_URL is http://127.0.0.1:8081, which is not HTTPS.');
});
