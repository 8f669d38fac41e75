import { DEFAULT_CONNECTION_LIMITS } from './connection-limits';
import type { ListeningServer } from './http-server';
import type { PublicPortOptions } from './ports';
import { listenPublicly } from './ports';
import { STRANGERS } from './source-pace';

let server: ListeningServer;
afterEach(() => server.close(0));

async function open(changes: Partial<PublicPortOptions>): Promise<string> {
  server = await listenPublicly({
    listener: () => (_request, response) => void response.end('answered'),
    port: 0,
    host: '127.0.0.1',
    connections: DEFAULT_CONNECTION_LIMITS,
    isProduction: false,
    ...changes,
  });
  return `http://127.0.0.1:${server.port}`;
}

test('a public port has a pace of its own', async () => {
  const taken: boolean[] = [];
  await open({
    listener(pace) {
      for (let times = 0; times < STRANGERS.burst; times += 1) {
        void pace.take('192.0.2.1').then((isOfPace) => taken.push(isOfPace));
      }
      return (_request, response) => void response.end();
    },
  });
  expect(taken).toEqual(Array<boolean>(STRANGERS.burst).fill(true));
});

test.each([
  ['production', true, 403],
  ['development', false, 200],
])('in %s a public port answers a request in clear accordingly', async (_where, isProduction, status) => {
  expect((await fetch(await open({ isProduction }))).status).toBe(status);
});
