import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Filter } from '@gateway/mongo';
import { claimOne, isDue } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { Transfer } from './pain001-file';
import { BrokenBatch, writePain001 } from './pain001-file';
import type { Batch, Records } from './records';
import type { SchemaCheck } from './schema-check';
import { PAIN_001 } from './schema-check';

/** Ten times what a file of 10,000 payouts takes to be written and validated. */
const LEASE_MS = 60_000;
const MAX_FILES_PER_ROUND = 100;
/** On the same file system as the outbox, so that a rename is atomic. */
const STAGED = '.staged';

export interface OutboxDirectory {
  /** Holds what a process left half-emitted, and writes what is frozen. Safe on any number of replicas at once. */
  writeFrozen(): Promise<void>;
  /** An operator's word that a file be written again, with what is frozen; false where that cannot be. */
  release(messageId: string): Promise<boolean>;
}

/**
 * A batch is rendered and validated beside the outbox, marked as `emitting`, renamed into the outbox, marked as
 * `emitted`. A crash before the first mark left nothing behind that an agent sees, so anyone may write it. Between the
 * marks nobody knows whether the agent has taken the file, so it is held.
 */
export function createOutboxDirectory(options: {
  directory: string;
  records: Records;
  schemaCheck: SchemaCheck;
  logger: Logger;
  clock: Clock;
  newId: () => string;
  /** For tests that die where it hurts. */
  move?: (from: string, to: string) => Promise<void>;
}): OutboxDirectory {
  const { directory, clock, logger, move = rename } = options;
  const { now } = clock;
  const { batches, members } = options.records;
  const staging = join(directory, STAGED);

  async function writeFrozen(): Promise<void> {
    await holdHalfEmitted();
    for (let files = 0; files < MAX_FILES_PER_ROUND; files += 1) {
      const batch = await claim();
      if (batch === undefined) return;
      await write(batch);
    }
  }

  async function holdHalfEmitted(): Promise<void> {
    const left: Filter<Batch> = { ...isDue('leaseUntil', clock), state: 'emitting' };
    for (const { _id } of await batches.find(left).limit(MAX_FILES_PER_ROUND).toArray()) {
      await hold({ ...left, _id }, 'a process ended while it moved the file into the outbox');
    }
  }

  async function hold(filter: Filter<Batch> & { _id: string }, problem: string): Promise<void> {
    const { modifiedCount } = await batches.updateOne(filter, { $set: { state: 'held', problem } });
    if (modifiedCount === 1)
      logger.error('a batch is held until an operator has decided', { batch: filter._id, problem });
  }

  async function claim(): Promise<(Batch & { writer: string }) | undefined> {
    const writer = options.newId();
    const claimed = await claimOne(batches, {
      field: 'leaseUntil',
      clock,
      leaseMs: LEASE_MS,
      among: { state: 'frozen' },
      set: { writer },
    });
    return claimed === null ? undefined : { ...claimed, writer };
  }

  async function write(batch: Batch & { writer: string }): Promise<void> {
    const staged = join(staging, `${batch._id}.${batch.writer}.xml`);
    await mkdir(staging, { recursive: true });
    try {
      await emit(staged, batch);
    } finally {
      // Still there where it was not moved.
      await rm(staged, { force: true });
    }
  }

  async function emit(staged: string, batch: Batch & { writer: string }): Promise<void> {
    const mine = { _id: batch._id, writer: batch.writer };
    const invalid = await render(staged, batch);
    if (invalid !== undefined) return hold({ ...mine, state: 'frozen' }, invalid);
    if (!(await mark({ ...mine, state: 'frozen' }, { $set: { state: 'emitting' }, $inc: { writings: 1 } }))) return;
    try {
      // Whoever found the lease over has held it by now, and an operator may have had it written again.
      if (now() >= batch.leaseUntil) throw new Error('too late: its lease was over before it could be moved');
      await move(staged, join(directory, `${batch._id}.xml`));
      await syncDirectory(directory);
    } catch (error) {
      return hold({ ...mine, state: 'emitting' }, (error as Error).message);
    }
    await mark({ ...mine, state: 'emitting' }, { $set: { state: 'emitted', emittedAt: now() } });
    logger.info('a batch is in the outbox', { batch: batch._id, payouts: batch.payouts });
    await removeStaged(batch._id);
  }

  /** What is wrong with the file, which no other try would mend. Throws for what one may, and then its lease ends. */
  async function render(staged: string, batch: Batch): Promise<string | undefined> {
    try {
      await writePain001(staged, { ...batch, messageId: batch._id }, transfersOf(batch));
    } catch (error) {
      if (error instanceof BrokenBatch) return error.message;
      throw error;
    }
    const problem = await options.schemaCheck.problemOf(staged, PAIN_001);
    return problem === undefined ? undefined : `not valid by its schema: ${wrongElements(problem)}`;
  }

  async function mark(
    filter: Pick<Batch, '_id' | 'state' | 'writer'>,
    change: { $set: Partial<Batch>; $inc?: { writings: 1 } },
  ): Promise<boolean> {
    const { modifiedCount } = await batches.updateOne(filter, change);
    return modifiedCount === 1;
  }

  async function* transfersOf(batch: Batch): AsyncGenerator<Transfer> {
    const cursor = members
      .find({ batch: batch._id })
      .sort({ _id: 1 })
      .limit(batch.payouts + 1);
    for await (const { _id: reference, transfer } of cursor) {
      if (transfer === undefined) throw new BrokenBatch(`${reference} has nothing to render any more`);
      yield { ...transfer, reference };
    }
  }

  /** What processes that died before their mark left there. */
  async function removeStaged(messageId: string): Promise<void> {
    const names = await readdir(staging);
    for (const name of names.filter((one) => one.startsWith(`${messageId}.`)))
      await rm(join(staging, name), { force: true });
  }

  async function release(messageId: string): Promise<boolean> {
    const released = await batches.updateOne(
      { _id: messageId, state: { $in: ['held', 'emitted'] }, reportedAt: { $exists: false } },
      { $set: { state: 'frozen', leaseUntil: 0 }, $unset: { problem: '' } },
    );
    if (released.modifiedCount === 0) return false;
    logger.warn('an operator has a batch written again', { batch: messageId });
    return true;
  }

  return { writeFrozen, release };
}

/** libxml2 quotes the values that it refuses: account numbers and names, which belong in no log and no list. */
function wrongElements(problem: string): string {
  const found = problem.matchAll(/Element '\{[^}']*\}(\w+)':(?: \[facet '(\w+)'\])?/g);
  const elements = [...found].map(([, element, facet]) => (facet === undefined ? element : `${element} (${facet})`));
  return [...new Set(elements)].join(', ');
}

/** Makes a rename survive a power cut. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
