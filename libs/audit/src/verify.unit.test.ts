import type { Draft, Entry } from './entry';
import { chained, hashOf } from './entry';
import { verifyEntries } from './verify';

const DAY_MS = 86_400_000;
const BEGIN = Date.UTC(2026, 0, 1);

function logOf(count: number): Entry[] {
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) {
    const isIntent = index % 2 === 0;
    const draft: Draft = {
      ...{ operator: 'alice', from: 'desk', action: 'account.suspend', subject: `shop_${index}` },
      ...(isIntent ? { phase: 'intent' } : { phase: 'done', intent: index }),
    };
    entries.push(chained(entries.at(-1), draft, BEGIN + index * DAY_MS));
  }
  return entries;
}

async function* streamed(entries: readonly Entry[]): AsyncIterable<Entry> {
  yield* entries;
}

const verify = (entries: readonly Entry[], options: Partial<Parameters<typeof verifyEntries>[1]> = {}) =>
  verifyEntries(streamed(entries), { keptSince: BEGIN, ...options });

const log = logOf(6);
const anchorOf = (index: number) => ({ sequence: log[index]?.sequence ?? 0, hash: log[index]?.hash ?? '' });

it('accepts an untouched log, and names its head', async () => {
  expect(await verify(log)).toEqual({ count: 6, head: anchorOf(5), problems: [], open: [] });
});

it('takes an empty log for an emptied one', async () => {
  const problems = ['the log is empty: unless nobody has ever acted, all of it was removed'];
  expect(await verify([])).toEqual({ count: 0, head: undefined, problems, open: [] });
});

it('lists intents without an outcome', async () => {
  expect(await verify(logOf(5))).toMatchObject({ problems: [], open: [5] });
});

it.each<[string, Entry[], string[]]>([
  ['changed', log.with(2, { ...log[2]!, operator: 'bob' }), ['entry 3 was changed']],
  [
    'changed and hashed again',
    log.with(2, rehashed({ ...log[2]!, operator: 'bob' })),
    ['entry 4 does not follow from entry 3'],
  ],
  ['removed in the middle', log.toSpliced(2, 1), ['entry 3 is missing']],
  ['removed, several', log.toSpliced(1, 3), ['entries 2 to 4 are missing']],
  ['removed at the beginning', log.slice(1), ['entry 1 is missing, although retention keeps what is so young']],
  [
    'reordered',
    log.with(1, { ...log[3]!, sequence: 2 }).with(3, { ...log[1]!, sequence: 4 }),
    [
      'entry 2 was changed',
      'entry 2 does not follow from entry 1',
      'entry 3 does not follow from entry 2',
      'entry 4 was changed',
      'entry 4 does not follow from entry 3',
      'entry 5 does not follow from entry 4',
    ],
  ],
])('notices that an entry was %s', async (_how, entries, problems) => {
  expect((await verify(entries)).problems).toEqual(problems);
});

describe('with a head that was written down', () => {
  it('notices a removed end', async () => {
    expect(await verify(log.slice(0, 4))).toMatchObject({ problems: [] });
    expect(await verify(log.slice(0, 4), { anchors: [anchorOf(5)] })).toMatchObject({
      problems: ['the log ends before entry 6, which was there'],
    });
  });

  it('notices a log that was written anew', async () => {
    const forged: Entry[] = [];
    for (const { sequence: _s, hash: _h, previousHash: _p, previousAt: _a, at, ...draft } of log) {
      forged.push(chained(forged.at(-1), { ...draft, operator: 'bob' }, at));
    }
    expect(await verify(forged)).toMatchObject({ problems: [] });
    expect(await verify(forged, { anchors: [anchorOf(3)] })).toMatchObject({
      problems: [`entry 4 had the hash ${log[3]?.hash}`],
    });
  });

  it('notices an old anchor that is wrong beside a right one', async () => {
    const anchors = [{ sequence: 2, hash: 'f'.repeat(64) }, anchorOf(5)];
    expect(await verify(log, { anchors })).toMatchObject({ problems: [`entry 2 had the hash ${'f'.repeat(64)}`] });
  });

  it('notices an entry that was anchored twice', async () => {
    const anchors = [{ sequence: 4, hash: 'f'.repeat(64) }, anchorOf(3)];
    expect(await verify(log, { anchors })).toMatchObject({ problems: ['entry 4 was written twice, with two hashes'] });
  });

  it('accepts a log that has grown since', async () => {
    expect(await verify(log, { anchors: [anchorOf(3)] })).toMatchObject({ problems: [] });
  });
});

describe('after retention', () => {
  const keptSince = BEGIN + 2 * DAY_MS;

  it('accepts that old entries are gone from the beginning', async () => {
    expect(await verify(log.slice(2), { keptSince })).toMatchObject({ count: 4, problems: [] });
  });

  it('notices that a younger one is gone as well', async () => {
    expect(await verify(log.slice(3), { keptSince })).toMatchObject({
      problems: ['entries 1 to 3 are missing, although retention keeps what is so young'],
    });
  });

  it('asks for a younger proof than one that is gone, whatever an anchor that proves nothing says', async () => {
    const options = { keptSince, anchors: [anchorOf(0), anchorOf(5)], proofs: [anchorOf(0)] };
    expect(await verify(log.slice(2), options)).toMatchObject({
      problems: ['entry 1 is gone: expect a younger one'],
    });
  });

  it('asks for a younger head than one that is gone', async () => {
    expect(await verify(log.slice(2), { keptSince, anchors: [anchorOf(0)] })).toMatchObject({
      problems: ['entry 1 is gone: expect a younger one'],
    });
  });
});

it('bounds what it reports', async () => {
  const broken = logOf(50).map((entry) => ({ ...entry, operator: 'bob' }));
  expect((await verify(broken)).problems).toHaveLength(20);
});

function rehashed(entry: Entry): Entry {
  return { ...entry, hash: hashOf(entry) };
}
