import type { Document } from '@gateway/mongo';
import type { PlannedIndex } from './planned-indexes';

const DAY_SECONDS = 86_400;

/** How long documents are kept, if that is longer than planned; empty if it is not. */
export function keptLonger({ database, collection, options }: PlannedIndex, existing?: Document): string[] {
  const planned = daysOf(options);
  const kept = daysOf(existing);
  return kept > planned ? [`${database}.${collection} for ${kept} days, not ${planned}`] : [];
}

/** NaN, which is not longer than anything, for an index that removes nothing. */
function daysOf(index: Document | undefined): number {
  return Number(index?.['expireAfterSeconds']) / DAY_SECONDS;
}

/** One sentence for all of them, and what ends it. Only who gives a service the lower value knows that it is meant. */
export function keptLongerSentence(collections: readonly string[]): string {
  return `Kept for longer than the settings say: ${collections.join('; ')}. Set that time to keep it. Provisioning never shortens; a service does when it starts with the lower value set, and MongoDB then deletes what is older.`;
}
