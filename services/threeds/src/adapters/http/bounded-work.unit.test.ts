import type { ListeningServer } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import type { ExampleRequest } from '@gateway/testing';
import { disproportionsOf, exampleRequest, hostilePlaces, senderTo } from '@gateway/testing';
import { EXAMPLE_REQUESTS, exampleListener } from './example-requests.fixture';

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

/** Express's own table. */
interface Routed {
  router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
}

test('every route has an example, whose texts are accepted', async () => {
  for (const { route } of (exampleListener() as unknown as Routed).router.stack) {
    for (const method of ['GET', 'POST'].filter((one) => route?.methods[one.toLowerCase()] === true)) {
      const pattern = new RegExp(`^${route?.path.replace(/:\w+/g, '[^/]+')}$`);
      expect(EXAMPLES.filter((example) => example.method === method && pattern.test(example.path))).not.toEqual([]);
    }
  }
  const statuses = await Promise.all(EXAMPLES.map((example) => sender.send(exampleRequest(example))));
  // The page of an AUTH3D opens by a form.
  expect(statuses).toEqual([200, 200, 400, 200, 200]);
});

describe.each(EXAMPLES)('$method $path', (example) => {
  test.each(hostilePlaces(example))('costs in proportion to the length of $name', async (place) => {
    expect(await disproportionsOf(place, sender.send)).toEqual([]);
  });
});
