import type { ListeningServer } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import type { ExampleRequest } from '@gateway/testing';
import { disproportionsOf, exampleRequest, hostilePlaces, senderTo } from '@gateway/testing';
import { EXAMPLE_REQUESTS, exampleListener, exampleRoutes } from './example-requests.fixture';

const EXAMPLES: readonly ExampleRequest[] = EXAMPLE_REQUESTS;

let server: ListeningServer;
let sender: ReturnType<typeof senderTo>;

beforeAll(async () => {
  server = await listen({ listener: exampleListener(), port: 0, host: '127.0.0.1' });
  sender = senderTo(server.port);
});
afterAll(async () => {
  sender.close();
  await server.close(0);
});

test('every route has an example, whose texts are accepted', async () => {
  for (const { method, path } of exampleRoutes()) {
    const pattern = new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
    expect(EXAMPLES.filter((example) => example.method === method && pattern.test(example.path))).not.toEqual([]);
  }
  const usual = EXAMPLES.map(async (example) => sender.send(exampleRequest(example)));
  for (const status of await Promise.all(usual)) expect([200, 204, 307, 409]).toContain(status);
});

describe.each(EXAMPLES)('$method $path', (example) => {
  test.each(hostilePlaces(example))('costs in proportion to the length of $name', async (place) => {
    expect(await disproportionsOf(place, sender.send)).toEqual([]);
  });
});
