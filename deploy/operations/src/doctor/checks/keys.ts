import type { HeldKey } from '@gateway/service-kit';
import { heldKeysOf, PUBLIC_HALF, readKeys } from '@gateway/vault';
import type { Check, Deployment } from '../check';

/** Counting reads an index of the cards, and all accounts with their secrets. */
export const COUNT_TIMEOUT_MS = 120_000;

interface Records {
  database: string;
  collection: string;
  /** Each gives the id of a key, or null. */
  fields: readonly unknown[];
  hint?: string;
  /** A list in which each entry has the fields. */
  list?: string;
  /** Moves them to the active key. */
  move: string;
}

const accounts = { database: 'accounts', move: 'npm run merchant -- reencrypt' };
const cards = { database: 'vault', collection: 'cards', hint: 'keys', move: 'npm run vault -- reencrypt' };

/** Secrets of an account. Those that are not sealed yet are under a key of ACCOUNT_KEYS alone (ADR 0079). */
const OF_ACCOUNTS = ['signingPassword', 'payoutSecret', 'formerSigning.password'];
const accountKeyOf = (secret: string) => ({ $ifNull: [`$${secret}.writerKeyId`, `$${secret}.keyId`] });
const signingKeyOf = (secret: string) => ({
  $cond: [{ $gt: [`$${secret}.writerKeyId`, null] }, `$${secret}.keyId`, null],
});

/** What is stored under the keys of a ring. CVVs live too shortly to be counted. */
const RECORDS: Readonly<Record<string, readonly [Records, ...Records[]]>> = {
  CARD_KEYS: [{ ...cards, fields: ['$keyId'] }],
  TOKEN_KEYS: [{ ...cards, fields: ['$tokenKeyId'] }],
  ACCOUNT_KEYS: [
    { ...accounts, collection: 'accounts', fields: ['$passwordVerifier.keyId', ...OF_ACCOUNTS.map(accountKeyOf)] },
    { ...accounts, collection: 'webhookSecrets', list: 'secrets', fields: [accountKeyOf('secrets')] },
  ],
  SIGNING_KEYS: [
    { ...accounts, collection: 'accounts', fields: OF_ACCOUNTS.map(signingKeyOf) },
    { ...accounts, collection: 'webhookSecrets', list: 'secrets', fields: [signingKeyOf('secrets')] },
  ],
};

/** Who encrypts has the public half of a pair, and who reads must have its private half. */
const PRIVATE_HALF: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PUBLIC_HALF).map(([privateHalf, publicHalf]) => [publicHalf, privateHalf]),
);

/** A replica that holds the keys of a ring, the active one first. */
interface Holder {
  name: string;
  ring: string;
  keys: readonly HeldKey[];
}
type Rings = ReadonlyMap<string, readonly Holder[]>;

/**
 * Every holder of a ring has the same keys, who encrypts has the public half of a key that every reader holds, every
 * record has its key, and no key is held without use.
 */
export const keysCheck: Check = {
  name: 'keys',
  async examine(deployment) {
    const rings = await ringsOf(deployment);
    const faults: string[] = [];
    let total = 0;
    for (const [ring, holders] of rings) {
      const readers = rings.get(PRIVATE_HALF[ring] ?? '') ?? [];
      faults.push(...disagreements(ring, holders), ...unreadable(holders, readers));
      const records = RECORDS[ring];
      if (records === undefined) continue;
      const counts = new Map<string, number>();
      for (const some of records) await countByKey(deployment, some, counts);
      for (const count of counts.values()) total += count;
      faults.push(...strays({ ring, holders, counts, move: records[0].move }));
    }
    return { faults, fine: `${rings.size} rings, ${total} records under their keys` };
  },
};

/** Those of all replicas, and what the command line that gives accounts their secrets has. */
async function ringsOf({ replicas, config: { SIGNING_PUBLIC_KEY } }: Deployment): Promise<Rings> {
  const rings = new Map<string, Holder[]>();
  const add = (holder: Holder) => rings.set(holder.ring, [...(rings.get(holder.ring) ?? []), holder]);
  for (const { name, about } of replicas) {
    for (const [ring, ids] of Object.entries(about?.keys ?? {})) {
      add({ name, ring, keys: ids.map((id) => ({ id, fingerprint: about?.fingerprints?.[ring]?.[id] })) });
    }
  }
  if (SIGNING_PUBLIC_KEY !== undefined) {
    const held = heldKeysOf(await readKeys({ SIGNING_PUBLIC_KEY }, ['SIGNING_PUBLIC_KEY']));
    for (const [ring, keys] of Object.entries(held)) add({ name: 'npm run merchant', ring, keys });
  }
  return rings;
}

function disagreements(ring: string, [first, ...others]: readonly Holder[]): string[] {
  if (first === undefined) return [];
  const idsOf = ({ keys }: Holder): string => keys.map(({ id }) => id).join(', ');
  const ids = others
    .filter((other) => idsOf(other) !== idsOf(first))
    .map(
      (other) =>
        `${other.name} has other keys in ${ring} (${idsOf(other)}) than ${first.name} (${idsOf(first)}): finish the rotation, see docs/runbook.md.`,
    );
  const values = others.flatMap((other) => first.keys.flatMap((key) => misfit(key, first, other)));
  return [...ids, ...values];
}

/** Empty if both have the key with the same value, in either half, or if one runs a release without fingerprints. */
function misfit({ id, fingerprint }: HeldKey, one: Holder, other: Holder): string[] {
  const found = other.keys.find((key) => key.id === id)?.fingerprint;
  if (fingerprint === undefined || found === undefined || fingerprint === found) return [];
  const fix = one.ring === other.ring ? 'the same value' : 'the halves of one pair';
  return [
    `The key ${id} in ${one.ring} of ${one.name} (${fingerprint}) does not fit that in ${other.ring} of ${other.name} (${found}): give them ${fix}.`,
  ];
}

function unreadable(writers: readonly Holder[], readers: readonly Holder[]): string[] {
  return writers.flatMap((writer) =>
    writer.keys
      .slice(0, 1)
      .flatMap((key) =>
        readers.flatMap((reader) =>
          reader.keys.some(({ id }) => id === key.id)
            ? misfit(key, writer, reader)
            : [`${writer.name} encrypts for the key ${key.id}, which ${reader.name} lacks: add it to ${reader.ring}.`],
        ),
      ),
  );
}

/** Adds to the counts. */
async function countByKey(
  { database }: Deployment,
  { fields, list, ...records }: Records,
  counts: Map<string, number>,
): Promise<void> {
  const collection = (await database(records.database)).collection(records.collection);
  for (const field of fields) {
    const entries = list === undefined ? [] : [{ $unwind: `$${list}` }];
    const groups = await collection
      .aggregate<{ _id: string | null; count: number }>([...entries, { $group: { _id: field, count: { $sum: 1 } } }], {
        maxTimeMS: COUNT_TIMEOUT_MS,
        ...(records.hint !== undefined && { hint: records.hint }),
      })
      .toArray();
    for (const { _id: id, count } of groups) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + count);
  }
}

function strays(found: {
  ring: string;
  holders: readonly Holder[];
  counts: ReadonlyMap<string, number>;
  move: string;
}): string[] {
  const { ring, holders, counts, move } = found;
  const held = new Set(holders.flatMap(({ keys }) => keys.map(({ id }) => id)));
  const active = new Set(holders.map(({ keys: [first] }) => first?.id));
  const missing = [...counts].filter(([id]) => !held.has(id));
  const retired = [...held].filter((id) => !active.has(id));
  return [
    ...missing.map(([id, count]) => `${count} records need the key ${id}, which nobody holds: add it to ${ring}.`),
    ...retired.map((id) =>
      counts.has(id)
        ? `${counts.get(id)} records are still under the retired key ${id} of ${ring}: ${move} moves them.`
        : `Nothing is under the key ${id} of ${ring}, which is not the active one: make it active if it is new, remove it if it is old.`,
    ),
  ];
}
