import { createBodyReader, listen } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { createHttpListener, json } from './listener';

test('a body leaves the budget of bodies with its answer', async () => {
  const limits = { max: 10, maxPerSource: 10, maxBytes: 1_000, maxBytesPerSource: 1_000 };
  const { listener, stop } = createHttpListener({
    routes: [{ method: 'POST', path: '/echo', callers: [], handle: async ({ json: body }) => json(200, await body()) }],
    bodies: createBodyReader(limits),
    latencyMs: 0,
    silenceMs: 1_000,
    logger: silentLogger,
  });
  const server = await listen({ listener, port: 0, host: '127.0.0.1' });
  try {
    const body = JSON.stringify({ text: 'x'.repeat(400) });
    for (let times = 0; times < 10; times += 1) {
      const answer = await fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', body });
      expect([answer.status, await answer.text()]).toEqual([200, body]);
    }
  } finally {
    await server.close(0);
    await stop();
  }
});
