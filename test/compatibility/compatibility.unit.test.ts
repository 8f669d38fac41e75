import fc from 'fast-check';
import { messages, queries, topics } from '@gateway/contracts';
import { arbitraryOf } from './arbitrary';
import { breaksBetween } from './breaks';
import { readerOf } from './reader';
import type { Schema } from './schema';
import type { Snapshot } from './snapshot';
import { acceptedBreaks, committedSnapshot, currentSnapshot, writeSnapshot } from './snapshot';

const TYPES_TIMEOUT_MS = 120_000;
const RUNS = 40;

let now: Snapshot;
let last: Snapshot;

/** With `UPDATE_SNAPSHOT` set it writes the snapshot first: `npm run snapshot`. */
beforeAll(() => {
  now = currentSnapshot();
  if (process.env['UPDATE_SNAPSHOT'] !== undefined) writeSnapshot(now);
  last = committedSnapshot();
}, TYPES_TIMEOUT_MS);

test('nothing breaks what the last release reads or has written', () => {
  const accepted = acceptedBreaks().map((one) => one.break);
  expect(breaksBetween(last, now).filter((one) => !accepted.includes(one))).toEqual([]);
});

test('every accepted break exists and has a reason', () => {
  const broken = breaksBetween(last, now);
  const idle = acceptedBreaks().filter((one) => !broken.includes(one.break) || one.reason.trim() === '');
  expect(idle).toEqual([]);
});

/** All schemas, by a name that the sentences about breaks begin with. */
function schemasIn({ messages: byTopic, queries: byName, documents }: Snapshot): Map<string, Schema> {
  return new Map([
    ...Object.entries(byTopic).map(([name, schema]) => [name.split('/')[1] ?? '', schema] as const),
    ...Object.entries(byName).map(([name, { answer }]) => [`${name} answer`, answer] as const),
    ...Object.entries(byName).map(([name, { parameters }]) => [`${name} parameters`, parameters] as const),
    ...Object.entries(documents),
  ]);
}

/** What both releases have, apart from accepted breaks. */
function inBothReleases(): [name: string, was: Schema, is: Schema][] {
  const after = schemasIn(now);
  const accepted = acceptedBreaks();
  return [...schemasIn(last)].flatMap(([name, was]) => {
    const is = after.get(name);
    const isAccepted = accepted.some((one) => one.break.startsWith(name));
    return is === undefined || isAccepted ? [] : [[name, was, is] as [string, Schema, Schema]];
  });
}

/** The problems of one release's values for the other's reader. */
function refusals(written: Schema, read: (value: unknown) => string | undefined): string[] {
  const refused = fc.check(
    fc.property(arbitraryOf(written), (value) => void expect(read(value)).toBeUndefined()),
    { numRuns: RUNS },
  );
  return refused.failed ? [read(refused.counterexample?.[0]) ?? String(refused.errorInstance)] : [];
}

test(
  'this release reads whatever the last one writes, with fields that it does not know',
  () => {
    const declared = new Map<string, (value: unknown) => string | undefined>([
      ...messages.map(({ type, problem }) => [type, problem] as const),
      ...Object.entries(queries).map(([name, { problem }]) => [`${name} answer`, problem] as const),
    ]);
    const refused = inBothReleases().flatMap(([name, was, is]) =>
      refusals(was, declared.get(name) ?? readerOf(is, name)),
    );
    expect(refused).toEqual([]);
  },
  TYPES_TIMEOUT_MS,
);

test(
  'the last release reads whatever this one writes, with fields that it does not know',
  () => {
    const refused = inBothReleases().flatMap(([name, was, is]) => refusals(is, readerOf(was, name)));
    expect(refused).toEqual([]);
  },
  TYPES_TIMEOUT_MS,
);

test('the snapshot has every topic, message type, query, collection and user of the last release', () => {
  for (const { name } of Object.values(topics)) expect(Object.keys(now.topics)).toContain(name);
  const count = ({ topics: t, messages: m, queries: q, documents: d, rights: r }: Snapshot) =>
    [t, m, q, d, r].map((all) => Object.keys(all).length);
  for (const [index, size] of count(last).entries()) expect(count(now)[index]).toBeGreaterThanOrEqual(size);
  expect(Math.min(...count(last))).toBeGreaterThan(4);
});
