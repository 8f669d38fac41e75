import { createPaymentTurns } from './payment-turns';

function setUp() {
  const turns = createPaymentTurns();
  const published: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (paymentId: string, count: number): void => {
    for (let n = 1; n <= count; n += 1) {
      const name = `${paymentId}${n}`;
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      turns.publish(paymentId, async () => void published.push(name), promise);
    }
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, published, ask, end };
}

test('16 commands of a payment are on their way at once; the others follow in their order', async () => {
  const { published, ask, end } = setUp();
  ask('a', 20);
  expect(published).toHaveLength(16);
  await end('a3');
  expect(published.slice(16)).toEqual(['a17']);
  await end('a17');
  await end('a1');
  expect(published.slice(16)).toEqual(['a17', 'a18', 'a19']);
});

test('other payments do not wait', () => {
  const { published, ask } = setUp();
  ask('a', 100);
  ask('b', 1);
  expect(published.at(-1)).toBe('b1');
});

test('a command that is over before its turn is never published', async () => {
  const { published, ask, end } = setUp();
  ask('a', 18);
  await end('a17');
  await end('a1');
  expect(published.slice(16)).toEqual(['a18']);
});

test('nothing is kept of a payment without commands', async () => {
  const { turns, ask, end } = setUp();
  ask('a', 20);
  for (let n = 20; n >= 1; n -= 1) await end(`a${n}`);
  expect(turns.size).toBe(0);
});
