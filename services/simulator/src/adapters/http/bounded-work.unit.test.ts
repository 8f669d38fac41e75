import type { ListeningServer } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import type { ExampleRequest } from '@gateway/testing';
import { exampleRequest, HOSTILE_TEXTS, hostilePlaces, senderTo, worksOf } from '@gateway/testing';
import { EXAMPLE_REQUESTS, exampleListener, exampleRoutes } from './example-requests.fixture';

const EXAMPLES: readonly ExampleRequest[] = EXAMPLE_REQUESTS;
/** What the line and the headers of a request cost, whatever is in them. */
const FIXED = 512;

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
    for (const [what, of] of Object.entries(HOSTILE_TEXTS)) {
      const { works, statuses } = await worksOf(place, of, sender.send);
      const [first = 0, second = 0, third = 0] = works;
      expect([what, Math.max(...statuses) < 500]).toEqual([what, true]);
      expect([what, second <= 2 * first + FIXED, third <= 4 * first + FIXED]).toEqual([what, true, true]);
    }
  });
});
