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
/** For an agent that has yet to set a file's mode, or a schema check that fails once. */
const GIVE_UP_AFTER_MS = 600_000;

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

interface Content {
  report: StatusReport;
  digest: string;
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

  /** The file that ended the last round. Others may fail in the same way, but the round does not reach them. */
  let unread: { name: string; mtimeMs: number; since: number } | undefined;

  async function readAll(take: TakeNews): Promise<void> {
    const files = await waitingFiles(directory, now() - QUIET_MS);
    if (files.length === 0 || !(await lease.take())) return;
    const unfinished = new Set<string>();
    let setAside = 0;
    try {
      for (const name of files) {
        const end = await readOne(name, { take, unfinished });
        // Any later report may be about the same message.
        if (end === 'unread') return;
        if (end === 'set-aside') setAside += 1;
        if (setAside === MAX_FILES_PER_ROUND) return;
      }
    } finally {
      await lease.release();
    }
  }

  /** A report that is not set aside stays in the inbox, and is read again in the next round. */
  async function readOne(name: string, round: Round): Promise<'set-aside' | 'stays' | 'unread'> {
    await keepLease();
    const stats = await statsOf(join(directory, name));
    if (stats === undefined) return 'stays';
    const content = await contentOf(name, stats).catch((error: unknown) => giveUp(name, stats, error));
    if (content === undefined) return 'unread';
    // The schema check may take longer than the lease lasts.
    await keepLease();
    try {
      const outcome = 'report' in content ? await outcomeOf(content, round) : content;
      if (outcome === undefined) return 'stays';
      await archive.setAside(name, stats, outcome);
      return 'set-aside';
    } catch (error) {
      logger.warn('a report stays in the inbox; it is read again', { file: name, error });
      return unread?.name === name ? 'unread' : 'stays';
    }
  }

  async function keepLease(): Promise<void> {
    if (!(await lease.take())) throw new Error('another replica reads the inbox now');
  }

  /** What a file says, or how its reading ended because it is no report. Throws if that is not known yet. */
  async function contentOf(name: string, { size }: Stats): Promise<Content | ReportOutcome> {
    const found = size > MAX_REPORT_BYTES ? tooLarge(size) : await read(await readFile(join(directory, name)));
    if (unread?.name === name) unread = undefined;
    return found;
  }

  async function read(bytes: Buffer): Promise<Content | ReportOutcome> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const report = await reportIn(bytes, schemaCheck);
    return typeof report === 'string' ? { ...failed([report]), digest } : { report, digest };
  }

  /** Undefined at first. A file that no one can ever read must not keep all others in the inbox. */
  function giveUp(name: string, { mtimeMs }: Stats, error: unknown): ReportOutcome | undefined {
    if (unread?.name !== name || unread.mtimeMs !== mtimeMs) unread = { name, mtimeMs, since: now() };
    const forMs = now() - unread.since;
    if (forMs >= GIVE_UP_AFTER_MS) return failed([`not readable for ${forMs} ms: ${String(error)}`]);
    logger.warn('all reports wait for one that cannot be read; it is read again', { file: name, error });
    return undefined;
  }

  /** Undefined if it must wait for an earlier report on its message, to keep the bank's order. */
  async function outcomeOf(
    { report, digest }: Content,
    { take, unfinished }: Round,
  ): Promise<ReportOutcome | undefined> {
    const { messageId, originalMessageId } = report;
    if (unfinished.has(originalMessageId)) return undefined;
    unfinished.add(originalMessageId);
    const known = await records.reports.findOne({ digest, result: 'applied' });
    const outcome =
      known === null
        ? { ...(await apply(report, { records, take, keepLease, now })), messageId, originalMessageId }
        : { result: 'duplicate' as const, problems: [] };
    unfinished.delete(originalMessageId);
    return { ...outcome, digest };
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

function tooLarge(size: number): ReportOutcome {
  return failed([`${size} bytes are more than ${MAX_REPORT_BYTES}`]);
}

function failed(problems: readonly string[]): ReportOutcome {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  return { result: 'failed', problems: hidden === 0 ? shown : [...shown, `and ${hidden} more`] };
}
