import { within } from './within';

/** Work that only a turn of the event loop can end, as one that waits for a socket. */
function answerOf(): { answer: Promise<string>; give: () => void } {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise<string>((resolve) =>
    port1.once('message', (text: string) => {
      port1.close();
      resolve(text);
    }),
  );
  return { answer, give: () => port2.postMessage('answer') };
}

function freeze(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('without a result in time it rejects', async () => {
  const never = new Promise(() => undefined);
  await expect(within(20, 'a request', never)).rejects.toThrow('a request took longer than 20 ms');
});

test('an answer that came while the process was frozen counts', async () => {
  const { answer, give } = answerOf();
  const result = within(50, 'a request', answer);
  // From here the event loop goes to its timers before it reads anything.
  await new Promise((resolve) => setImmediate(resolve));
  give();
  freeze(100);
  expect(await result).toBe('answer');
});
