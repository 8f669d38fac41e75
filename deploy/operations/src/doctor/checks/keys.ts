import type { Check, Deployment } from '../check';
import type { Replica } from '../replicas';

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
const PRIVATE_HALF: Readonly<Record<string, string>> = { CARD_PUBLIC_KEY: 'CARD_KEYS', CVV_PUBLIC_KEY: 'CVV_KEYS' };

/** A replica that holds the keys of a ring. Ids of the keys, the active one first. */
interface Holder {
  name: string;
  ids: readonly string[];
}
type Rings = ReadonlyMap<string, readonly Holder[]>;

/** Every holder of a ring has the same keys, every record has its key, and no key is held without use. */
export const keysCheck: Check = {
  name: 'keys',
  async examine(deployment) {
    const rings = ringsOf(deployment.replicas);
    const faults: string[] = [];
    let total = 0;
    for (const [ring, holders] of rings) {
      faults.push(...disagreements(ring, holders), ...unreadable(ring, holders, rings));
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

function ringsOf(replicas: readonly Replica[]): Rings {
  const rings = new Map<string, Holder[]>();
  for (const { name, about } of replicas) {
    for (const [ring, ids] of Object.entries(about?.keys ?? {})) {
      rings.set(ring, [...(rings.get(ring) ?? []), { name, ids }]);
    }
  }
  return rings;
}

function disagreements(ring: string, [first, ...others]: readonly Holder[]): string[] {
  const keysOf = ({ ids }: Holder): string => ids.join(', ');
  return others
    .filter((other) => first !== undefined && keysOf(other) !== keysOf(first))
    .map(
      (other) =>
        `${other.name} has other keys in ${ring} (${keysOf(other)}) than ${first?.name} (${first && keysOf(first)}): finish the rotation, see docs/runbook.md.`,
    );
}

function unreadable(ring: string, holders: readonly Holder[], rings: Rings): string[] {
  const half = PRIVATE_HALF[ring];
  if (half === undefined) return [];
  return holders.flatMap(({ name, ids: [id = ''] }) =>
    (rings.get(half) ?? [])
      .filter((reader) => !reader.ids.includes(id))
      .map((reader) => `${name} encrypts for the key ${id}, which ${reader.name} lacks: add it to ${half}.`),
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
  const held = new Set(holders.flatMap(({ ids }) => ids));
  const active = new Set(holders.map(({ ids: [first] }) => first));
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
