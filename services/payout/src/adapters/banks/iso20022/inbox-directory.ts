import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@gateway/service-kit';
import type { StatusReport } from '../../../domain/iso20022/status-report';
import type { TakeNews } from './apply-report';
import { applyReport } from './apply-report';
import type { WorkLease } from './lease';
import { readPain002, UnreadableReport, xmlText } from './pain002-file';
import type { Records, ReportRecord } from './records';
import { takeStep } from './records';
import type { ReportOutcome } from './report-archive';
import { createReportArchive } from './report-archive';
import type { SchemaCheck } from './schema-check';
import { PAIN_002 } from './schema-check';

/** A report on 10,000 payouts has about 2.5 MB; with the original transactions repeated, up to four times that. */
const MAX_REPORT_BYTES = 10 * 1024 * 1024;
/** A file may still be growing for this long after a change. Agents should write elsewhere and rename anyway. */
const QUIET_MS = 2_000;
/** Files to set aside in one round. Those that stay in the inbox do not count, so they block no others. */
const MAX_FILES_PER_ROUND = 100;
const MAX_PROBLEMS = 100;

export interface InboxDirectory {
  prepare(): Promise<void>;
  /** Reads all reports, oldest first, and sets them aside under `done/` or `failed/`. One replica at a time. */
  readAll(take: TakeNews): Promise<void>;
}

interface Round {
  take: TakeNews;
  /** Messages that still have a report in the inbox. */
  unfinished: Set<string>;
}

/** Reads files that end in `.xml`, and ignores names with a leading dot, links and folders. */
export function createInboxDirectory(options: {
  directory: string;
  records: Records;
  lease: WorkLease;
  schemaCheck: SchemaCheck;
  /** Called for every file that is set aside. */
  onReport: (result: ReportRecord['result']) => void;
  logger: Logger;
  now: () => number;
}): InboxDirectory {
  const { directory, records, lease, schemaCheck, logger, now } = options;
  const archive = createReportArchive({ inbox: directory, reports: records.reports, ...options });

  async function readAll(take: TakeNews): Promise<void> {
    const files = await waitingFiles(directory, now() - QUIET_MS);
    if (files.length === 0 || !(await lease.take())) return;
    const unfinished = new Set<string>();
    let setAside = 0;
    try {
      for (const name of files) {
        if (await readOne(name, { take, unfinished })) setAside += 1;
        if (setAside === MAX_FILES_PER_ROUND) return;
      }
    } finally {
      await lease.release();
    }
  }

  /** False if the report cannot be applied now: it stays in the inbox, and the round goes on with the others. */
  async function readOne(name: string, round: Round): Promise<boolean> {
    await keepLease();
    const stats = await statsOf(join(directory, name));
    if (stats === undefined) return false;
    try {
      const outcome = await outcomeOf(name, stats.size, round);
      if (outcome !== undefined) await archive.setAside(name, stats, outcome);
      return outcome !== undefined;
    } catch (error) {
      logger.warn('a report stays in the inbox; it is read again', { file: name, error });
      return false;
    }
  }

  async function keepLease(): Promise<void> {
    if (!(await lease.take())) throw new Error('another replica reads the inbox now');
  }

  /** Undefined if it must wait for an earlier report on its message, to keep the bank's order. */
  async function outcomeOf(
    name: string,
    size: number,
    { take, unfinished }: Round,
  ): Promise<ReportOutcome | undefined> {
    if (size > MAX_REPORT_BYTES) return failed([`${size} bytes are more than ${MAX_REPORT_BYTES}`]);
    const bytes = await readFile(join(directory, name));
    const digest = createHash('sha256').update(bytes).digest('hex');
    if ((await records.reports.findOne({ digest, result: 'applied' })) !== null) {
      return { result: 'duplicate', digest, problems: [] };
    }
    const report = await reportIn(bytes, schemaCheck);
    if (typeof report === 'string') return { ...failed([report]), digest };
    const { messageId, originalMessageId } = report;
    if (unfinished.has(originalMessageId)) return undefined;
    unfinished.add(originalMessageId);
    const outcome = await apply(report, { records, take, keepLease, now });
    unfinished.delete(originalMessageId);
    return { ...outcome, digest, messageId, originalMessageId };
  }

  return { prepare: () => archive.prepare(), readAll };
}

async function apply(
  report: StatusReport,
  context: { records: Records; take: TakeNews; keepLease: () => Promise<void>; now: () => number },
): Promise<ReportOutcome> {
  const { originalMessageId } = report;
  const { members, batches } = context.records;
  const change = { $set: { reportedAt: context.now() }, $unset: { problem: '' as const, endedAt: '' as const } };
  const batch = await batches.findOneAndUpdate(...takeStep('report', { _id: originalMessageId }, change));
  if (batch === null) return failed([`no message ${originalMessageId} is known`]);
  const stranger = report.payments.find(
    ({ originalPaymentId = originalMessageId }) => originalPaymentId !== originalMessageId,
  );
  if (stranger !== undefined) return failed([`${originalMessageId} has no payment ${stranger.originalPaymentId}`]);
  const writtenAgain = (batch.writings ?? 0) > 1;
  const problems = await applyReport(report, {
    members,
    take: context.take,
    writtenAgain,
    now: context.now,
    beforeEach: context.keepLease,
  });
  return problems.length === 0 ? { result: 'applied', problems } : failed(problems);
}

/** Names of reports that were not changed after `quietSince` (epoch ms), oldest first. */
async function waitingFiles(directory: string, quietSince: number): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && /^[^.].*\.xml$/i.test(entry.name)).map(({ name }) => name);
  const files = await Promise.all(names.map(async (name) => ({ name, stats: await statsOf(join(directory, name)) })));
  return files
    .flatMap(({ name, stats }) => (stats === undefined ? [] : { name, at: stats.mtimeMs }))
    .filter(({ at }) => at <= quietSince)
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

/** Undefined if the file is gone: another replica has set it aside. */
function statsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** The report, or its problem. */
async function reportIn(bytes: Buffer, schemaCheck: SchemaCheck): Promise<StatusReport | string> {
  try {
    const text = xmlText(bytes);
    return (await schemaCheck.problemOf(bytes, PAIN_002)) ?? readPain002(text);
  } catch (error) {
    if (error instanceof UnreadableReport) return error.message;
    throw error;
  }
}

function failed(problems: readonly string[]): ReportOutcome {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  return { result: 'failed', problems: hidden === 0 ? shown : [...shown, `and ${hidden} more`] };
}
