import type { Records } from './records';
import { takeStep } from './records';

/** A report proves that the bank has the file, whatever was thought of it. @param reportedAt epoch ms */
export async function noteReport(batches: Records['batches'], _id: string, reportedAt: number): Promise<void> {
  const change = { $set: { reportedAt }, $unset: { problem: '' as const, endedAt: '' as const } };
  await batches.updateOne(...takeStep('report', { _id }, change));
}

/** The bank has said something that is no rejection. Only the first time counts. @param acceptedAt epoch ms */
export async function noteAcceptance(batches: Records['batches'], _id: string, acceptedAt: number): Promise<void> {
  await batches.updateOne({ _id, acceptedAt: { $exists: false } }, { $set: { acceptedAt } });
}
