import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Filter } from '@gateway/mongo';
import { claimOne, isDue } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { Transfer } from './pain001-file';
import { BrokenBatch, writePain001 } from './pain001-file';
import type { Batch, Records } from './records';
import { allows, takeStep } from './records';
import type { SchemaCheck } from './schema-check';
import { PAIN_001 } from './schema-check';

/** Ten times the time to write and validate a file of 10,000 payouts. */
const LEASE_MS = 60_000;
const MAX_FILES_PER_ROUND = 100;
/** On the same file system as the outbox, so that a rename is atomic. */
const STAGED = '.staged';

export interface OutboxDirectory {
  /** Holds batches whose move was interrupted, and writes frozen ones. Any number of replicas may run it at once. */
  writeFrozen(): Promise<void>;
  /** On an operator's word, has a file written again with the same content. False if its state does not allow that. */
  release(messageId: string): Promise<boolean>;
}

/**
 * Renders and validates a batch beside the outbox, marks it `emitting`, renames it into the outbox, marks it `emitted`.
 * After a crash before the first mark the agent cannot have seen the file, so any replica may write it. After a crash
 * between the marks the agent may have taken it, so the batch is held.
 */
export function createOutboxDirectory(options: {
  directory: string;
  records: Records;
  schemaCheck: SchemaCheck;
  logger: Logger;
  clock: Clock;
  newId: () => string;
  /** For tests that crash during the move. */
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
    const abandoned: Filter<Batch> = { ...isDue('leaseUntil', clock), ...allows('interruption') };
    for (const { _id } of await batches.find(abandoned).limit(MAX_FILES_PER_ROUND).toArray()) {
      await hold('interruption', { ...abandoned, _id }, 'a process ended while it moved the file into the outbox');
    }
  }

  async function hold(
    step: 'defect' | 'interruption',
    where: Filter<Batch> & { _id: string },
    problem: string,
  ): Promise<void> {
    const { modifiedCount } = await batches.updateOne(...takeStep(step, where, { $set: { problem } }));
    if (modifiedCount === 1)
      logger.error('a batch is held until an operator has decided', { batch: where._id, problem });
  }

  async function claim(): Promise<(Batch & { writer: string }) | undefined> {
    const writer = options.newId();
    const claimed = await claimOne(batches, {
      field: 'leaseUntil',
      clock,
      leaseMs: LEASE_MS,
      among: allows('emission'),
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
      // Still there if it was not moved.
      await rm(staged, { force: true });
    }
  }

  async function emit(staged: string, batch: Batch & { writer: string }): Promise<void> {
    const mine = { _id: batch._id, writer: batch.writer };
    const invalid = await render(staged, batch);
    if (invalid !== undefined) return hold('defect', mine, invalid);
    const begun = await batches.updateOne(...takeStep('emission', mine, { $inc: { writings: 1 } }));
    if (begun.modifiedCount === 0) return;
    try {
      // Another replica may have held the batch by now, and an operator may have released it.
      if (now() >= batch.leaseUntil) throw new Error('too late: its lease was over before it could be moved');
      await move(staged, join(directory, `${batch._id}.xml`));
      await syncDirectory(directory);
    } catch (error) {
      return hold('interruption', mine, (error as Error).message);
    }
    await batches.updateOne(...takeStep('move', mine, { $set: { emittedAt: now() } }));
    logger.info('a batch is in the outbox', { batch: batch._id, payouts: batch.payouts });
    await removeStaged(batch._id);
  }

  /** Why the file can never be written; undefined if it is fine. Throws if another attempt may help. */
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

  /** Removes what crashed processes left there. */
  async function removeStaged(messageId: string): Promise<void> {
    const names = await readdir(staging);
    for (const name of names.filter((one) => one.startsWith(`${messageId}.`)))
      await rm(join(staging, name), { force: true });
  }

  async function release(messageId: string): Promise<boolean> {
    const released = await batches.updateOne(
      ...takeStep('release', { _id: messageId }, { $set: { leaseUntil: 0 }, $unset: { problem: '' } }),
    );
    if (released.modifiedCount === 0) return false;
    logger.warn('an operator has a batch written again', { batch: messageId });
    return true;
  }

  return { writeFrozen, release };
}

/** libxml2 quotes the values that it refuses: account numbers and names, which must not get into logs and lists. */
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
