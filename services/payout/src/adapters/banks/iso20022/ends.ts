import type { Records } from './records';

const QUERY_TIMEOUT_MS = 5_000;

/**
 * Ends what is over, so that retention can remove it: members whose payout is at rest although no report has decided
 * them, e.g. because one contradicted another, and batches all of whose members have ended. Only batches that a bank has
 * reported on: any other may be written again, and then needs its transfers.
 *
 * @param now epoch ms
 */
export async function endRecords(records: Records, now: number): Promise<void> {
  const { batches, members } = records;
  const open = { state: 'emitted', reportedAt: { $exists: true }, endedAt: { $exists: false } } as const;
  const endedAt = new Date(now);
  for await (const { _id: batch, reportedAt } of batches.find(open, { projection: { reportedAt: 1 } })) {
    const over = await membersAtRest(records, batch);
    const notEnded = { batch, endedAt: { $exists: false } };
    await members.updateMany({ ...notEnded, _id: { $in: over } }, { $set: { endedAt }, $unset: { transfer: '' } });
    const left = await members.findOne(notEnded, { projection: { _id: 1 }, maxTimeMS: QUERY_TIMEOUT_MS });
    // A report that came meanwhile has changed the time, and may have begun something.
    if (left === null)
      await batches.updateOne(
        { ...open, _id: batch, ...(reportedAt !== undefined && { reportedAt }) },
        { $set: { endedAt } },
      );
  }
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
