import type { Records } from './records';
import { UNDECIDED } from './records';

const QUERY_TIMEOUT_MS = 5_000;

/**
 * Ends what is over, so that retention can remove it: members whose payout is at rest although no report has decided
 * them, e.g. because one contradicted another, and batches all of whose members have ended. Only batches that a bank has
 * reported on: any other may be written again, and then needs its transfers.
 *
 * @param now epoch ms
 */
export async function endRecords(records: Records, now: number): Promise<void> {
  const { batches } = records;
  const open = batches.find(UNDECIDED, { projection: { reportedAt: 1 } });
  for await (const { _id: batch, reportedAt } of open) {
    const over = await membersAtRest(records, batch);
    const notEnded = { batch, endedAt: { $exists: false } };
    const change = { $set: { endedAt: new Date(now) }, $unset: { transfer: '' as const } };
    await records.members.updateMany({ ...notEnded, _id: { $in: over } }, change);
    await endBatch(records, { _id: batch, reportedAt }, now);
  }
}

/** Ends a batch if all its members have ended, and no report has come since it was read. */
export async function endBatch(
  { batches, members }: Pick<Records, 'batches' | 'members'>,
  { _id, reportedAt }: { _id: string; reportedAt: number | undefined },
  now: number,
): Promise<void> {
  const notEnded = { batch: _id, endedAt: { $exists: false } };
  const left = await members.findOne(notEnded, { projection: { _id: 1 }, maxTimeMS: QUERY_TIMEOUT_MS });
  if (left !== null) return;
  const unchanged = reportedAt === undefined ? {} : { reportedAt };
  await batches.updateOne({ ...UNDECIDED, _id, ...unchanged }, { $set: { endedAt: new Date(now) } });
}

async function membersAtRest({ members }: Records, batch: string): Promise<string[]> {
  const found = members.aggregate<{ _id: string }>(
    [
      { $match: { batch, endedAt: { $exists: false } } },
      { $lookup: { from: 'payouts', localField: '_id', foreignField: '_id', as: 'payout' } },
      { $match: { 'payout.endedAt': { $exists: true } } },
      { $project: { _id: 1 } },
    ],
    { maxTimeMS: QUERY_TIMEOUT_MS },
  );
  return (await found.toArray()).map(({ _id }) => _id);
}
