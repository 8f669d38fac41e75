import type { ListeningServer } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import type { RawRequest } from '@gateway/testing';
import { senderTo } from '@gateway/testing';
import { NOTIFICATION_PATH, RESULTS_PATH } from './public-site';
import { exampleListener } from './example-requests.fixture';

let server: ListeningServer;
let sender: ReturnType<typeof senderTo>;
let taken: string[] = [];

beforeAll(async () => {
  const pace = { take: async (address: string) => taken.push(address) > 0 };
  server = await listen({ listener: exampleListener(pace), port: 0, host: '127.0.0.1' });
  sender = senderTo(server.port);
});
afterAll(async () => {
  sender.close();
  await server.close(0);
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const LONG = 'x'.repeat(200_000);
const PAGE = `/challenge/${'A'.repeat(32)}`;

const REFUSED: readonly RawRequest[] = [
  { method: 'GET', path: '/nowhere', headers: {} },
  { method: 'GET', path: '/challenge/%ff', headers: {} },
  { method: 'POST', path: '/challenge/%ff', headers: FORM, body: 'MD=1' },
  { method: 'PUT', path: PAGE, headers: FORM, body: LONG },
  ...[PAGE, NOTIFICATION_PATH, RESULTS_PATH].flatMap((path) => [
    { method: 'POST', path, headers: FORM, body: LONG },
    { method: 'POST', path, headers: { ...FORM, 'content-encoding': 'gzip' }, body: 'x' },
    { method: 'POST', path, headers: FORM, body: '%' },
  ]),
];

test.each(REFUSED)('a refused request takes of the pace of its source: $method $path', async (request) => {
  taken = [];
  const status = await sender.send(request);
  expect([status >= 400 && status < 500, taken]).toEqual([true, ['127.0.0.1']]);
});
