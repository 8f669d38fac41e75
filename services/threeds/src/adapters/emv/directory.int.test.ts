import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMetrics } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import type { DirectoryClient } from './directory';
import { createDirectory } from './directory';
import { EXAMPLE_PAYMENT } from './example-answers.fixture';

/** More failures than open the breaker within its ten seconds. */
const MANY = 150;

let server: Server;
let client: DirectoryClient;
let received: number;
let lines: string[];
let play: (response: ServerResponse) => void;

const open = (isProduction: boolean) =>
  createDirectory({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    timeoutMs: 1_000,
    callsAtOnce: 8,
    own: { results: 'r', notification: 'n', publicUrl: 'p' },
    isProduction,
    metrics: createMetrics('test', { processFigures: false }),
    logger: { ...silentLogger, warn: (...line) => void lines.push(JSON.stringify(line)) },
  });

beforeEach(async () => {
  received = 0;
  lines = [];
  server = createServer((_request, response) => {
    received += 1;
    play(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = open(false);
});
afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

let isTooLate = false;
const THREEDS_SERVER_TRANS_ID = '8a880dc0-d2d2-4067-bcb1-b08d1690b26e';
const ask = () =>
  client.prepare({
    threeDSServerTransId: THREEDS_SERVER_TRANS_ID,
    ...EXAMPLE_PAYMENT,
    isTooLate: () => isTooLate,
  })();

test('a request whose turn comes after its deadline is not sent', async () => {
  isTooLate = true;
  expect(await ask()).toEqual({ kind: 'too-late' });
  isTooLate = false;
  expect(received).toBe(0);
});

async function askOften(): Promise<Set<string>> {
  const kinds = new Set<string>();
  for (let count = 0; count < MANY; count += 1) kinds.add((await ask()).kind);
  return kinds;
}

test('a directory server that never answers is left alone for a while', async () => {
  play = (response) => response.destroy();
  expect(await askOften()).toEqual(new Set(['unavailable']));
  expect(received).toBeLessThan(MANY);
});

test('a directory server that answers is asked every time, whatever the answer', async () => {
  play = (response) => response.writeHead(503).end();
  expect(await askOften()).toEqual(new Set(['unavailable']));
  expect(received).toBe(MANY);
});

test('a refusal is logged with its code and the elements that it names, never with their values', async () => {
  const refuse = (fields: object) => {
    play = (response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ messageType: 'Erro', messageVersion: '2.1.0', errorComponent: 'D', ...fields }));
    };
  };
  refuse({ errorCode: '203', errorDetail: 'cardholderName,email' });
  expect(await ask()).toEqual({ kind: 'unavailable' });
  expect(lines.at(-1)).toContain('"errorCode":"203","errorDetail":"cardholderName email"');
  refuse({ errorCode: '203', errorDetail: 'acctNumber=4012000300001003 is not enrolled' });
  await ask();
  expect(lines.at(-1)).toContain('"errorDetail":"acctNumber"');
  refuse({ errorCode: 'x4012000300001003', errorDetail: 7 });
  await ask();
  expect(lines.at(-1)).not.toMatch(/errorCode|errorDetail|4012/);
});

test.each([
  [false, 'https://acs.example/page', 'https://acs.example/page'],
  [false, 'http://127.0.0.1:8090/page', 'http://127.0.0.1:8090/page'],
  [true, 'https://acs.example/page', 'https://acs.example/page'],
  [true, 'http://acs.example/page', undefined],
  [true, 'http://127.0.0.1:8090/page', undefined],
])("in production (%s) an issuer's page is reached by HTTPS alone: %s", async (isProduction, acsURL, acsUrl) => {
  client.close();
  client = open(isProduction);
  const ids = { threeDSServerTransID: THREEDS_SERVER_TRANS_ID, dsTransID: randomUUID(), acsTransID: randomUUID() };
  play = (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ messageType: 'ARes', messageVersion: '2.2.0', transStatus: 'C', ...ids, acsURL }));
  };
  const answer = await ask();
  expect(answer).toMatchObject({ kind: 'answered', transStatus: 'C' });
  expect('acsUrl' in answer ? answer.acsUrl : undefined).toBe(acsUrl);
});
