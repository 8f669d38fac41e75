import type { Document } from '@gateway/mongo';
import { keptLonger, keptLongerSentence } from '../../kept-longer';
import type { PlannedIndex } from '../../planned-indexes';
import { existingIndexes, plannedIndexes } from '../../planned-indexes';
import type { Check } from '../check';

/** Every index exists as the code declares it. */
export const indexesCheck: Check = {
  name: 'indexes',
  async examine(deployment) {
    const planned = await plannedIndexes(deployment);
    const byCollection = Map.groupBy(planned, ({ database, collection }) => `${database}.${collection}`);
    const faults: string[] = [];
    const longer: string[] = [];
    for (const [name, indexes] of byCollection) {
      const first = indexes[0] as PlannedIndex;
      const existing = await existingIndexes(await deployment.database(first.database), first);
      for (const index of indexes) {
        const there = existing.get(index.name);
        const different = there === undefined ? [] : differencesOf(index, there);
        const kept = isTimeAlone(different) ? keptLonger(index, there) : [];
        longer.push(...kept);
        if (kept.length === 0) faults.push(...faultOf(name, index, there, different));
      }
    }
    if (longer.length > 0) faults.push(keptLongerSentence(longer));
    return { faults, fine: `${planned.length} indexes in ${byCollection.size} collections exist as declared` };
  },
};

/** The fields in which an index is not as planned. */
function differencesOf({ key, options }: PlannedIndex, existing: Document): string[] {
  const wanted: Document = { key, ...options };
  return ['key', 'unique', 'partialFilterExpression', 'expireAfterSeconds'].filter(
    (field) => JSON.stringify(existing[field] ?? null) !== JSON.stringify(wanted[field] ?? null),
  );
}

const isTimeAlone = (different: readonly string[]): boolean => different.join() === 'expireAfterSeconds';

function faultOf(
  collection: string,
  { name }: PlannedIndex,
  existing: Document | undefined,
  different: readonly string[],
): string[] {
  const fix = 'npm run provision';
  if (existing === undefined) return [`${collection} lacks the index ${name}: ${fix} creates it.`];
  if (different.length === 0) return [];
  // Times can be changed. For all else the index has to be made anew, which is an operator's decision.
  const advice = isTimeAlone(different) ? `${fix} lengthens it` : `drop it, then ${fix}`;
  return [`The index ${name} of ${collection} differs in ${different.join(', ')}: ${advice}.`];
}
