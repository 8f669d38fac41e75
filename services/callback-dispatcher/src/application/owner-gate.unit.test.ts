import { createFairSlots, RetryableError } from '@gateway/service-kit';
import { createOwnerGate } from './owner-gate';

const AWAY = new RetryableError('away');

function setUp(slots = 2) {
  const clock = { now: 1_000 };
  const gate = createOwnerGate({
    slots: createFairSlots({ max: slots, maxWaiting: 0, waitTimeoutMs: 0 }),
    now: () => clock.now,
  });
  const asked: string[] = [];
  /** A question that hangs until the test answers it. */
  const ask = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const result = gate.ask('merchant', () => {
      asked.push(name);
      return promise;
    });
    result.catch(() => undefined);
    return { result, answer: () => resolve(name), fail: (error: Error = AWAY) => reject(error) };
  };
  const fail = async (name: string): Promise<void> => {
    const one = ask(name);
    one.fail();
    await expect(one.result).rejects.toBe(AWAY);
  };
  return { clock, gate, asked, ask, fail };
}

test('while the owner answers, as many ask as there are slots', async () => {
  const { asked, ask } = setUp(2);
  const [one, other] = [ask('one'), ask('other')];
  expect(await ask('third').result).toBe('later');
  one.answer();
  expect(await one.result).toBe('one');
  other.answer();
  await other.result;
  const fourth = ask('fourth');
  fourth.answer();
  expect(await fourth.result).toBe('fourth');
  expect(asked).toEqual(['one', 'other', 'fourth']);
});

test('an owner that fails to answer is not asked for two seconds, and then by one question', async () => {
  const { clock, gate, asked, ask, fail } = setUp();
  expect(gate.isClosed()).toBe(false);
  await fail('first');
  clock.now += 1_999;
  expect(await ask('too early').result).toBe('later');
  expect(gate.isClosed()).toBe(true);
  clock.now += 1;
  expect(gate.isClosed()).toBe(false);
  const probe = ask('probe');
  expect(gate.isClosed()).toBe(true);
  expect(await ask('beside it').result).toBe('later');
  probe.fail();
  await expect(probe.result).rejects.toBe(AWAY);
  expect(await ask('after it').result).toBe('later');
  clock.now += 2_000;
  const next = ask('next');
  next.answer();
  expect(await next.result).toBe('next');
  const [one, other] = [ask('one'), ask('other')];
  for (const { answer } of [one, other]) answer();
  expect(await Promise.all([one.result, other.result])).toEqual(['one', 'other']);
  expect(asked).toEqual(['first', 'probe', 'next', 'one', 'other']);
});

test('a defect in a question does not close the gate', async () => {
  const { clock, ask, fail } = setUp();
  await fail('first');
  clock.now += 2_000;
  const broken = ask('broken');
  broken.fail(new Error('a defect'));
  await expect(broken.result).rejects.toThrow('a defect');
  const next = ask('next');
  next.answer();
  expect(await next.result).toBe('next');
});
