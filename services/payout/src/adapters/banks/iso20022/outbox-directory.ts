import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Filter } from '@gateway/mongo';
import { claimOne, isDue } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { Departures } from './departures';
import type { Manifests } from './manifests';
import type { Batch, Records } from './records';
import { allows, isNotBegun, takeStep } from './records';
import type { SchemaCheck } from './schema-check';
import { createStaging } from './staging';
import { syncDirectory } from './synced';

/** Ten times the time to write and validate a file of 10,000 payouts. */
const LEASE_MS = 60_000;
const MAX_FILES_PER_ROUND = 100;

export interface OutboxDirectory {
  /** Holds batches whose move was interrupted, and writes frozen ones. Any number of replicas may run it at once. */
  writeFrozen(): Promise<void>;
  /** On an operator's word, has a file written again with the same content. False if its state does not allow that. */
  release(messageId: string): Promise<boolean>;
}

/**
 * Renders and validates a batch beside the outbox, marks it `emitting`, records it in the outbox, renames it into the
 * outbox, marks it `emitted`.
 * After a crash before the first mark the agent cannot have seen the file, so any replica may write it. After a crash
 * between the marks the agent may have taken it, so the batch is held.
 */
export function createOutboxDirectory(options: {
  directory: string;
  records: Records;
  departures: Departures;
  manifests: Manifests;
  schemaCheck: SchemaCheck;
  logger: Logger;
  clock: Clock;
  newId: () => string;
  /** For tests that crash during the move. */
  move?: (from: string, to: string) => Promise<void>;
}): OutboxDirectory {
  const { directory, clock, logger, move = rename } = options;
  const { now } = clock;
  const { departures, manifests } = options;
  const { batches, members } = options.records;
  const staging = createStaging({ outbox: directory, members, schemaCheck: options.schemaCheck });

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
    if (modifiedCount === 1) logger.error('a batch is held for an operator', { batch: where._id, problem });
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
    const staged = staging.pathOf(batch);
    // A restored database may not know that payouts of this batch have left in another one: it is opened again.
    await manifests.reconcile();
    try {
      await emit(staged, batch);
    } finally {
      // Still there if it was not moved.
      await rm(staged, { force: true });
    }
  }

  async function emit(staged: string, batch: Batch & { writer: string }): Promise<void> {
    const mine = { _id: batch._id, writer: batch.writer };
    const { problem } = await staging.write(batch, staged);
    if (problem !== undefined) return hold('defect', mine, problem);
    if (!(await begin(mine, batch))) return;
    try {
      if (!(await manifests.record(batch)) && batch.writings === undefined)
        return hold('interruption', mine, 'it has been in the outbox before: the database was restored');
      // Another replica may have held the batch by now, and an operator may have released it.
      if (now() >= batch.leaseUntil) throw new Error('too late: its lease was over before it could be moved');
      await move(staged, join(directory, `${batch._id}.xml`));
      await syncDirectory(directory);
    } catch (error) {
      return hold('interruption', mine, (error as Error).message);
    }
    await batches.updateOne(...takeStep('move', mine, { $set: { emittedAt: now() } }));
    logger.info('a batch is in the outbox', { batch: batch._id, payouts: batch.payouts });
    await staging.clear(batch._id);
  }

  /**
   * From the first mark on, an agent may see the file. A hold or a suspension since the batch was frozen opens it again:
   * the members wait for the next cut, which leaves out those that must wait. One that may have reached the bank keeps
   * its members.
   */
  async function begin(mine: Filter<Batch> & { _id: string }, batch: Batch): Promise<boolean> {
    const refused = await departures.refusedAccounts(await departures.accountsIn(batch));
    return departures.depart(async (held, session) => {
      if (!(await departures.holdsBack(batch, held, refused, session))) {
        const begun = await batches.updateOne(...takeStep('emission', mine, { $inc: { writings: 1 } }), { session });
        return begun.modifiedCount === 1;
      }
      logger.warn('a batch is not written: payouts in it are held, or of refused accounts', { batch: mine._id });
      const opened = await batches.deleteOne({ ...mine, ...isNotBegun }, { session });
      if (opened.deletedCount === 1) {
        const back = { $set: { state: 'waiting' }, $unset: { batch: '' } } as const;
        await members.updateMany({ batch: mine._id }, back, { session });
      }
      return false;
    });
  }

  async function release(messageId: string): Promise<boolean> {
    const released = await batches.updateOne(
      ...takeStep('release', { _id: messageId }, { $set: { leaseUntil: 0 }, $unset: { problem: '' } }),
    );
    if (released.modifiedCount === 0) return false;
    logger.warn('an operator has a batch rewritten', { batch: messageId });
    return true;
  }

  return { writeFrozen, release };
}
