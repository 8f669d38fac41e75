import { link, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { utcDay } from '@gateway/contracts';
import type { ClientSession } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createBatcher } from '@gateway/service-kit';
import type { Departures } from './departures';
import { FILE_MODE } from './pain001-file';
import type { Batch, Records } from './records';
import { isNotBegun } from './records';
import { MAX_PAYOUTS_PER_FILE } from './settings';
import { syncDirectory, writeSynced } from './synced';

/** Beside the files of the outbox, which the agent takes away: what has been in them. */
export const MANIFESTS = '.emitted';
/** A backup of the database that is older than this must not be restored beside the outbox without asking the bank. */
export const MANIFEST_DAYS = 35;
const DAY_MS = 86_400_000;
/** More than the files that replicas can write between two batches whose records are in the wrong order. */
const NEWEST = 100;
const MAX_MEMBER_BYTES = 512;
const MAX_BYTES = MAX_PAYOUTS_PER_FILE * MAX_MEMBER_BYTES;
const DAY = /^\d{8}$/;
/** The characters of a MsgId that we give. */
const RECORD = /^([0-9A-Z][0-9A-Z-]{0,34})\.json$/;

const Debtor = Type.Object({ name: Type.String(), iban: Type.String(), bic: Type.Optional(Type.String()) });
/** A batch as it was emitted, without anything about its receivers. */
const Manifest = Type.Object({
  batch: Type.Object({
    _id: Type.String(),
    debtor: Debtor,
    initiatingParty: Type.String(),
    instant: Type.Boolean(),
    payouts: Type.Integer(),
    totalE4: Type.Integer(),
    createdAt: Type.Integer(),
  }),
  /** `_id` is the EndToEndId. */
  members: Type.Array(
    Type.Object({
      _id: Type.String(),
      merchantAccount: Type.Optional(Type.String()),
      since: Type.Integer(),
      amountE4: Type.Optional(Type.Integer()),
    }),
    { maxItems: MAX_PAYOUTS_PER_FILE },
  ),
});
type Manifest = Static<typeof Manifest>;

interface EmittedFile {
  messageId: string;
  path: string;
}

/** The outbox's own record of emitted EndToEndIds. It outlives a restore of the database (ADR 0087). */
export interface Manifests {
  /**
   * Records a batch, before its file can be seen. False if there is a record already: the file was, or may have been, in
   * the outbox.
   */
  record(batch: Batch): Promise<boolean>;
  /**
   * Gives batches that the outbox has a record of, and the database has not, back to the database: held for an operator,
   * with their members. So no member of theirs gets into another file. Throws if a record cannot be read.
   */
  reconcile(): Promise<void>;
  /** Removes records that are older than {@link MANIFEST_DAYS}. @param now epoch ms */
  prune(now: number): Promise<void>;
}

export function createManifests(options: {
  outbox: string;
  records: Records;
  departures: Pick<Departures, 'depart'>;
  logger: Logger;
  newId: () => string;
}): Manifests {
  const directory = join(options.outbox, MANIFESTS);
  const { batches, members } = options.records;

  async function record(batch: Batch): Promise<boolean> {
    const day = join(directory, dayOf(batch.createdAt));
    await mkdir(day, { recursive: true });
    const partial = join(day, `.${batch._id}.${options.newId()}`);
    try {
      const manifest = JSON.stringify(await manifestOf(batch));
      await writeSynced(partial, FILE_MODE, (file) => file.writeFile(manifest));
      // Unlike a rename, a link replaces nothing.
      await link(partial, join(day, `${batch._id}.json`));
      await syncDirectory(day);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(partial, { force: true });
    }
  }

  async function manifestOf({ _id, ...batch }: Batch): Promise<Manifest> {
    const { debtor, initiatingParty, instant, payouts, totalE4, createdAt } = batch;
    const projection = { merchantAccount: 1, since: 1, amountE4: 1 } as const;
    const found = await members.find({ batch: _id }, { projection }).limit(MAX_PAYOUTS_PER_FILE).toArray();
    const head = { _id, debtor, initiatingParty, instant, payouts, totalE4, createdAt };
    return { batch: head, members: found };
  }

  async function adoptUnknown(): Promise<void> {
    const days = await listed(directory, DAY);
    const newest = (await Promise.all(days.slice(-2).map(recordsOf))).flat().slice(-NEWEST);
    // A restored database is an earlier one: if it has the newest files, it has those before.
    if ((await unknownAmong(newest)).length === 0) return;
    const missing: EmittedFile[][] = [];
    for (const day of days.reverse()) {
      const unknown = await unknownAmong(await recordsOf(day));
      if (unknown.length === 0 && missing.length > 0) break;
      missing.unshift(unknown);
    }
    // The newest last, so that a crash in between leaves one that is unknown.
    for (const file of missing.flat()) await adopt(await read(file));
  }

  /** An operator's command calls off hundreds at once: one look is enough for all that wait for it. */
  const looks = createBatcher<undefined, void>(async (waiting) => {
    await adoptUnknown();
    return waiting.map(() => undefined);
  });

  async function recordsOf(day: string): Promise<EmittedFile[]> {
    const names = await listed(join(directory, day), RECORD);
    return names.map((name) => ({ path: join(directory, day, name), messageId: RECORD.exec(name)?.[1] ?? '' }));
  }

  async function unknownAmong(files: readonly EmittedFile[]): Promise<EmittedFile[]> {
    if (files.length === 0) return [];
    const ids = { _id: { $in: files.map(({ messageId }) => messageId) } };
    const found = await batches.find(ids, { projection: { _id: 1 } }).toArray();
    const known = new Set(found.map(({ _id }) => _id));
    return files.filter(({ messageId }) => !known.has(messageId));
  }

  async function read({ path, messageId }: EmittedFile): Promise<Manifest> {
    if ((await stat(path)).size > MAX_BYTES) throw new Error(`${path} is too long for a record of a batch`);
    const manifest: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (Value.Check(Manifest, manifest) && manifest.batch._id === messageId) return manifest;
    throw new Error(`${path} is no record of a batch: restore it from a backup of the outbox`);
  }

  async function adopt(manifest: Manifest): Promise<void> {
    const { _id, payouts } = manifest.batch;
    await options.departures.depart(async (_held, session) => {
      const problem = 'the database is older than this file: it was restored';
      const held = { ...manifest.batch, state: 'held', problem, writings: 1, leaseUntil: 0 } as const;
      const adopted = await batches.updateOne({ _id }, { $setOnInsert: held }, { upsert: true, session });
      if (adopted.upsertedCount === 1) await adoptMembers(manifest, session);
    });
    options.logger.error('a batch is held: the database does not know it any more', { batch: _id, payouts });
  }

  async function adoptMembers({ batch, members: listing }: Manifest, session: ClientSession): Promise<void> {
    const references = listing.map(({ _id }) => _id);
    await openAgain(references, session);
    const sent = { state: 'sent', batch: batch._id } as const;
    await members.updateMany({ _id: { $in: references }, state: 'waiting' }, { $set: sent }, { session });
    const { debtor, instant } = batch;
    const inserts = listing.map(({ _id, ...member }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: { ...member, debtor, instant, ...sent } }, upsert: true },
    }));
    if (inserts.length > 0) await members.bulkWrite(inserts, { session, ordered: false });
    const elsewhere = await members
      .find({ _id: { $in: references }, batch: { $ne: batch._id } }, { session, projection: { _id: 1 } })
      .toArray();
    for (const { _id: reference } of elsewhere)
      options.logger.error('a payout may be in two files; ask the bank', { reference, batch: batch._id });
  }

  /** Batches that were frozen when the backup was made, and opened again afterwards: their members left in other files. */
  async function openAgain(references: string[], session: ClientSession): Promise<void> {
    const before = await members.distinct('batch', { _id: { $in: references }, state: 'sent' }, { session });
    for (const _id of before.filter((name) => name !== undefined)) {
      const { deletedCount } = await batches.deleteOne({ _id, ...isNotBegun }, { session });
      if (deletedCount === 0) continue;
      const back = { $set: { state: 'waiting' }, $unset: { batch: '' } } as const;
      await members.updateMany({ batch: _id }, back, { session });
    }
  }

  async function prune(now: number): Promise<void> {
    const oldest = dayOf(now - MANIFEST_DAYS * DAY_MS);
    for (const day of await listed(directory, DAY))
      if (day < oldest) await rm(join(directory, day), { recursive: true, force: true });
  }

  return { record, reconcile: () => looks.add(undefined), prune };
}

/** `20261121`, in UTC. */
function dayOf(at: number): string {
  return utcDay(at).replaceAll('-', '');
}

/** Names in a directory, sorted; none if there is no such directory. */
async function listed(path: string, names: RegExp): Promise<string[]> {
  try {
    return (await readdir(path)).filter((name) => names.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
