import { OverloadedError } from '@gateway/service-kit';
import type { Account } from './account';
import type { AccountDirectoryOptions } from './directory';
import { createAccountDirectory } from './directory';

const account = (revision: number): Account => ({ revision }) as Account;

function setUp(override: Partial<AccountDirectoryOptions> = {}) {
  const clock = { now: 0 };
  const stored = new Map<string, Account>();
  const load = jest.fn(async (name: string) => stored.get(name));
  return { clock, stored, load, directory: createAccountDirectory({ load, now: () => clock.now, ...override }) };
}

it('reads an account once in 30 s, and then its changes', async () => {
  const { clock, stored, load, directory } = setUp();
  stored.set('demo_merchant', account(1));
  expect((await directory.find('demo_merchant'))?.revision).toBe(1);
  stored.set('demo_merchant', account(2));
  clock.now = 29_999;
  expect((await directory.find('demo_merchant'))?.revision).toBe(1);
  clock.now = 30_000;
  expect((await directory.find('demo_merchant'))?.revision).toBe(2);
  expect(load).toHaveBeenCalledTimes(2);
});

it('remembers that there is no such account, for as long', async () => {
  const { clock, stored, load, directory } = setUp();
  expect(await directory.find('demo_merchant')).toBeUndefined();
  stored.set('demo_merchant', account(1));
  clock.now = 29_999;
  expect(await directory.find('demo_merchant')).toBeUndefined();
  expect(load).toHaveBeenCalledTimes(1);
  clock.now = 30_000;
  expect(await directory.find('demo_merchant')).toBeDefined();
});

it('counts the age from when reading began, not from when it ended', async () => {
  const reading = Promise.withResolvers<Account>();
  const load = jest.fn().mockReturnValueOnce(reading.promise).mockResolvedValue(account(2));
  const { clock, directory } = setUp({ load });
  const found = directory.find('demo_merchant');
  clock.now = 5_000;
  reading.resolve(account(1));
  expect((await found)?.revision).toBe(1);
  clock.now = 30_000;
  expect((await directory.find('demo_merchant'))?.revision).toBe(2);
});

it('concurrent lookups share one read', async () => {
  const { stored, load, directory } = setUp();
  stored.set('demo_merchant', account(1));
  const found = await Promise.all(Array.from({ length: 50 }, () => directory.find('demo_merchant')));
  expect(new Set(found)).toEqual(new Set([account(1)]));
  expect(load).toHaveBeenCalledTimes(1);
});

it('reads the latest account beside the cache, even while an older read is under way', async () => {
  const { stored, load, directory } = setUp();
  stored.set('demo_merchant', account(1));
  await directory.find('demo_merchant');
  stored.set('demo_merchant', account(2));
  expect((await directory.find('demo_merchant'))?.revision).toBe(1);
  const latest = await Promise.all([directory.findLatest('demo_merchant'), directory.findLatest('demo_merchant')]);
  expect(latest.map((found) => found?.revision)).toEqual([2, 2]);
  expect(load).toHaveBeenCalledTimes(3);
  expect((await directory.find('demo_merchant'))?.revision).toBe(2);
});

it('does not cache failures', async () => {
  const load = jest.fn().mockRejectedValueOnce(new Error('down')).mockResolvedValue(account(1));
  const { directory } = setUp({ load });
  await expect(directory.find('demo_merchant')).rejects.toThrow('down');
  expect((await directory.find('demo_merchant'))?.revision).toBe(1);
});

it('keeps no more accounts than its bound, and reads no more at once', async () => {
  const { load, directory } = setUp({ maxEntries: 2 });
  for (const name of ['one', 'two', 'three', 'one']) await directory.find(name);
  expect(load).toHaveBeenCalledTimes(4);

  const reading = Promise.withResolvers<undefined>();
  const slow = setUp({ load: () => reading.promise, maxConcurrentLoads: 2 }).directory;
  const asked = [slow.find('one'), slow.find('two'), slow.find('two')];
  await expect(slow.find('three')).rejects.toThrow(OverloadedError);
  reading.resolve(undefined);
  await Promise.all(asked);
  expect(await slow.find('three')).toBeUndefined();
});
