import type { Document } from '@gateway/mongo';
import { indexesOf } from '@gateway/mongo';
import type { PlannedIndex } from '../planned-indexes';
import { plannedIndexes } from '../planned-indexes';
import type { Check, Deployment } from '../check';

/** Every index exists as the code declares it. */
export const indexesCheck: Check = {
  name: 'indexes',
  async examine(deployment) {
    const planned = await plannedIndexes(deployment);
    const byCollection = Map.groupBy(planned, ({ database, collection }) => `${database}.${collection}`);
    const faults: string[] = [];
    for (const [name, indexes] of byCollection) {
      const existing = await existingIn(deployment, indexes[0] as PlannedIndex);
      faults.push(...indexes.flatMap((index) => faultOf(name, index, existing.get(index.name))));
    }
    return { faults, fine: `${planned.length} indexes in ${byCollection.size} collections exist as declared` };
  },
};

async function existingIn(
  { database }: Deployment,
  { database: name, collection }: PlannedIndex,
): Promise<Map<string, Document>> {
  const connection = await database(name);
  const indexes = await indexesOf(connection.collection(collection));
  return new Map(indexes.map((index) => [String(index['name']), index]));
}

function faultOf(collection: string, { name, key, options }: PlannedIndex, existing: Document | undefined): string[] {
  const fix = 'npm run provision';
  if (existing === undefined) return [`${collection} lacks the index ${name}: ${fix} creates it.`];
  const wanted: Document = { key, ...options };
  const different = ['key', 'unique', 'partialFilterExpression', 'expireAfterSeconds'].filter(
    (field) => JSON.stringify(existing[field] ?? null) !== JSON.stringify(wanted[field] ?? null),
  );
  if (different.length === 0) return [];
  // Times can be changed. For all else the index has to be made anew, which is an operator's decision.
  const advice = different.join() === 'expireAfterSeconds' ? `${fix} corrects it` : `drop it, then ${fix}`;
  return [`The index ${name} of ${collection} differs in ${different.join(', ')}: ${advice}.`];
}
