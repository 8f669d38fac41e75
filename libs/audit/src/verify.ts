import type { Entry } from './entry';
import { GENESIS_HASH, hashOf } from './entry';

/** A head that was kept outside the database: what came before it cannot have changed since. */
export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
}

export interface Verification {
  readonly count: number;
  /** The last entry; undefined if there is none. */
  readonly head: Anchor | undefined;
  /** Sentences. Empty if nothing was changed, removed or moved. At most {@link PROBLEMS_MAX}. */
  readonly problems: readonly string[];
  /** Intents without an outcome, oldest first: under way, or their process died. At most {@link OPEN_MAX}. */
  readonly open: readonly number[];
}

const PROBLEMS_MAX = 20;
const OPEN_MAX = 1_000;

/**
 * Checks a log, in order of its sequence numbers.
 *
 * A log cannot show by itself that its end is missing, or that all of it was written anew: anchors can. Those of entries
 * that retention has removed prove nothing, so at least one must be younger.
 *
 * @param anchors what they say must be true
 * @param proofs of these, those that prove that the end is not missing. Default: all
 * @param keptSince epoch ms: entries made since then must not be missing at the beginning
 */
export async function verifyEntries(
  entries: AsyncIterable<Entry>,
  {
    anchors = [],
    proofs = anchors,
    keptSince,
  }: { anchors?: readonly Anchor[]; proofs?: readonly Anchor[]; keptSince: number },
): Promise<Verification> {
  const { hashes, problems } = byEntry(anchors);
  const open = new Set<number>();
  let count = 0;
  let first: Entry | undefined;
  let last: Entry | undefined;
  for await (const entry of entries) {
    count += 1;
    first ??= entry;
    if (problems.length < PROBLEMS_MAX) problems.push(...problemsOf(last, entry, keptSince));
    if (entry.phase === 'intent' && open.size < OPEN_MAX) open.add(entry.sequence);
    if (entry.intent !== undefined) open.delete(entry.intent);
    const expected = hashes.get(entry.sequence);
    if (expected !== undefined && expected !== entry.hash)
      problems.push(`entry ${entry.sequence} had the hash ${expected}`);
    last = entry;
  }
  if (count === 0) problems.push('the log is empty: unless nobody has ever acted, all of it was removed');
  problems.push(...problemsOfEnd(newestOf(anchors), newestOf(proofs), { first, last }));
  return {
    count,
    head: last && { sequence: last.sequence, hash: last.hash },
    problems: problems.slice(0, PROBLEMS_MAX),
    open: [...open],
  };
}

function problemsOf(previous: Entry | undefined, entry: Entry, keptSince: number): string[] {
  const { sequence } = entry;
  const problems: string[] = [];
  if (hashOf(entry) !== entry.hash) problems.push(`entry ${sequence} was changed`);
  if (previous === undefined) return [...problems, ...problemsOfFirst(entry, keptSince)];
  if (sequence !== previous.sequence + 1) {
    problems.push(`${rangeBetween(previous.sequence, sequence)} missing`);
  } else if (entry.previousHash !== previous.hash) {
    problems.push(`entry ${sequence} does not follow from entry ${previous.sequence}`);
  }
  return problems;
}

/** Retention removes the oldest entries. The first one left says how old the last removed one was. */
function problemsOfFirst({ sequence, previousAt, previousHash }: Entry, keptSince: number): string[] {
  if (sequence === 1) return previousHash === GENESIS_HASH ? [] : ['entry 1 is not the first one'];
  if (previousAt !== undefined && previousAt < keptSince) return [];
  return [`${rangeBetween(0, sequence)} missing, although retention keeps what is so young`];
}

function rangeBetween(before: number, after: number): string {
  return after - before === 2 ? `entry ${before + 1} is` : `entries ${before + 1} to ${after - 1} are`;
}

/** The anchor of the latest entry. */
export function newestOf<A extends Anchor>(anchors: readonly A[]): A | undefined {
  return anchors.reduce<A | undefined>((a, b) => (a === undefined || b.sequence > a.sequence ? b : a), undefined);
}

function problemsOfEnd(
  newest: Anchor | undefined,
  newestProof: Anchor | undefined,
  { first, last }: { first: Entry | undefined; last: Entry | undefined },
): string[] {
  if (newest !== undefined && (last === undefined || last.sequence < newest.sequence))
    return [`the log ends before entry ${newest.sequence}, which was there`];
  if (newestProof !== undefined && first !== undefined && newestProof.sequence < first.sequence)
    return [`entry ${newestProof.sequence} is gone: expect a younger one`];
  return [];
}

/** The same entry with two hashes: the log was cut and has grown again in between. */
function byEntry(anchors: readonly Anchor[]): { hashes: ReadonlyMap<number, string>; problems: string[] } {
  const hashes = new Map<number, string>();
  const forked = new Set<number>();
  for (const { sequence, hash } of anchors) {
    if ((hashes.get(sequence) ?? hash) !== hash) forked.add(sequence);
    hashes.set(sequence, hash);
  }
  return { hashes, problems: [...forked].map((sequence) => `entry ${sequence} was written twice, with two hashes`) };
}
