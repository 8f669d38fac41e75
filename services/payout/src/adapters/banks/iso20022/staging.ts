import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transfer } from './pain001-file';
import { BrokenBatch, writePain001 } from './pain001-file';
import type { Batch, Records } from './records';
import type { SchemaCheck } from './schema-check';
import { PAIN_001 } from './schema-check';

/** On the same file system as the outbox, so that a rename is atomic. */
const STAGED = '.staged';

/** Files that are not in the outbox yet. */
export interface Staging {
  /**
   * Writes and validates the file of a batch. `problem`: it can never be written. Throws if another attempt may help.
   * Remove the file in either case.
   */
  write(batch: Batch, path: string): Promise<{ problem?: string }>;
  /** Each writer has its own path. */
  pathOf(batch: Batch & { writer: string }): string;
  /** Removes what crashed writers of this batch left. */
  clear(messageId: string): Promise<void>;
}

export function createStaging(options: {
  outbox: string;
  members: Records['members'];
  schemaCheck: SchemaCheck;
}): Staging {
  const staging = join(options.outbox, STAGED);

  async function* transfersOf(batch: Batch): AsyncGenerator<Transfer> {
    const cursor = options.members
      .find({ batch: batch._id })
      .sort({ _id: 1 })
      .limit(batch.payouts + 1);
    for await (const { _id: reference, transfer } of cursor) {
      if (transfer === undefined) throw new BrokenBatch(`${reference} has nothing to render any more`);
      yield { ...transfer, reference };
    }
  }

  return {
    pathOf: ({ _id, writer }) => join(staging, `${_id}.${writer}.xml`),
    async write(batch, path) {
      await mkdir(staging, { recursive: true });
      try {
        await writePain001(path, { ...batch, messageId: batch._id }, transfersOf(batch));
      } catch (error) {
        if (error instanceof BrokenBatch) return { problem: error.message };
        throw error;
      }
      const invalid = await options.schemaCheck.problemOf(path, PAIN_001);
      return invalid === undefined ? {} : { problem: `not valid by its schema: ${wrongElements(invalid)}` };
    },
    async clear(messageId) {
      const names = await readdir(staging);
      for (const name of names.filter((one) => one.startsWith(`${messageId}.`)))
        await rm(join(staging, name), { force: true });
    },
  };
}

/** libxml2 quotes the values that it refuses: account numbers and names, which must not get into logs and lists. */
function wrongElements(problem: string): string {
  const found = problem.matchAll(/Element '\{[^}']*\}(\w+)':(?: \[facet '(\w+)'\])?/g);
  const elements = [...found].map(([, element, facet]) => (facet === undefined ? element : `${element} (${facet})`));
  return [...new Set(elements)].join(', ');
}
