import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@gateway/service-kit';
import type { StatusReport } from '../../../domain/iso20022/status-report';
import { differencesOf, showsAcceptance } from '../../../domain/iso20022/status-report';
import type { AccountReport, SettledBy } from '../../../domain/iso20022/booking';
import { applyBookings } from './apply-bookings';
import type { TakeNews } from './apply-reading';
import { applyReport } from './apply-report';
import type { BankMessage } from './bank-messages';
import { BANK_MESSAGES, readBankMessage } from './bank-messages';
import { noteAcceptance, noteReport } from './batch-reports';
import { endBatch } from './ends';
import type { InboxFiles } from './inbox-files';
import { listInbox, MAX_REPORT_BYTES, readOnce } from './inbox-files';
import type { WorkLease } from './lease';
import type { Batch, Records, ReportRecord } from './records';
import type { ReportOutcome } from './report-archive';
import { createReportArchive, REPORT_FOLDERS } from './report-archive';
import type { SchemaCheck } from './schema-check';
import { reportUnknownMessage } from './unknown-message';

/** Files to set aside in one round. Those that stay in the inbox do not count, so they block no others. */
const MAX_FILES_PER_ROUND = 100;
const MAX_PROBLEMS = 100;
/** For an agent that has yet to set a file's mode, or a schema check that fails once. */
const GIVE_UP_AFTER_MS = 600_000;
const NAMES_IN_LOG = 20;

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
  message: BankMessage;
  digest: string;
}

/** A report on an account may be about any message. */
const ANY_MESSAGE = '';

/** A file as it was read: `stats` are those of the content. */
interface Reading {
  stats: Stats;
  content: Content | ReportOutcome;
}

/** The check failed, not the file. */
class CheckFailed extends Error {}

/** Reads files that end in `.xml`, and ignores names with a leading dot, links and folders. */
export function createInboxDirectory(options: {
  directory: string;
  records: Records;
  lease: WorkLease;
  schemaCheck: SchemaCheck;
  /** What settles the payouts of a debtor account. */
  settledByOf: (iban: string) => SettledBy;
  /** Called for every file that is set aside. */
  onReport: (result: ReportRecord['result']) => void;
  /** Called with what waits, in each round of each replica. */
  onLook?: (files: InboxFiles) => void;
  logger: Logger;
  now: () => number;
}): InboxDirectory {
  const { directory, records, lease, schemaCheck, logger, now } = options;
  const archive = createReportArchive({ inbox: directory, reports: records.reports, ...options });

  /** Since when each round has ended at a file that cannot be read, whichever it was. */
  let blockedSince: number | undefined;
  /** Files that were given up and could not be moved. Later reports have been applied since. */
  const passedOver = new Set<string>();
  let shown: ReadonlySet<string> = new Set();

  async function readAll(take: TakeNews): Promise<void> {
    const files = await listInbox(directory, now(), REPORT_FOLDERS);
    options.onLook?.(files);
    show(files);
    for (const name of passedOver) if (!files.due.includes(name)) passedOver.delete(name);
    if (files.due.length === 0 || !(await lease.take())) return;
    const unfinished = new Set<string>();
    let setAside = 0;
    try {
      for (const name of files.due) {
        const end = await readOne(name, { take, unfinished });
        // Any later report may be about the same message.
        if (end === 'unread') return;
        if (end === 'set-aside') setAside += 1;
        if (setAside === MAX_FILES_PER_ROUND) break;
      }
      blockedSince = undefined;
    } finally {
      await lease.release();
    }
  }

  /** Each name once, for as long as it is there. */
  function show({ ahead, ignored }: InboxFiles): void {
    const log = (message: string, names: readonly string[]): void => {
      const fresh = names.filter((name) => !shown.has(name));
      if (fresh.length === 0) return;
      logger.warn(message, { files: fresh.slice(0, NAMES_IN_LOG), count: fresh.length });
    };
    log('reports in the inbox are dated ahead; each waits until its time has come', ahead);
    log('files in the inbox are no reports, which end in .xml; they are left alone', ignored);
    shown = new Set([...ahead, ...ignored]);
  }

  /** A report that is not set aside stays in the inbox, and is read again in the next round. */
  async function readOne(name: string, round: Round): Promise<'set-aside' | 'stays' | 'unread'> {
    await keepLease();
    const reading = await readingOf(name).catch((error: unknown) => giveUp(name, error));
    if (reading === 'changed') return 'stays';
    if (reading === undefined) return 'unread';
    const { stats, content } = reading;
    // The schema check may take longer than the lease lasts.
    await keepLease();
    try {
      const outcome = 'message' in content ? await outcomeOf(name, content, round) : content;
      if (outcome === undefined) return 'stays';
      if (!(await archive.setAside(name, stats, outcome))) return 'stays';
      passedOver.delete(name);
      return 'set-aside';
    } catch (error) {
      logger.warn('a report stays in the inbox; it is read again', { file: name, error });
      return 'stays';
    }
  }

  async function keepLease(): Promise<void> {
    if (!(await lease.take())) throw new Error('another replica reads the inbox now');
  }

  /** What a file says, or how its reading ended because it is no report. Throws if that is not known yet. */
  async function readingOf(name: string): Promise<Reading | 'changed'> {
    const file = await readOnce(join(directory, name));
    if (file.kind === 'changed') return 'changed';
    const { stats } = file;
    if (file.kind === 'too-large') {
      return { stats, content: failed([`${stats.size} bytes are more than ${MAX_REPORT_BYTES}`]) };
    }
    const content = await contentOf(file.bytes);
    if (!passedOver.has(name) || !('message' in content)) return { stats, content };
    const late =
      'it could not be read for a while, and later reports have been applied; compare them, then move it back';
    return { stats, content: { ...failed([late]), digest: content.digest } };
  }

  async function contentOf(bytes: Buffer): Promise<Content | ReportOutcome> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const read = await schemaCheck.read(bytes, BANK_MESSAGES).catch((error: unknown) => {
      throw new CheckFailed(String(error));
    });
    if ('problem' in read) return { ...failed([read.problem]), digest };
    const message = readBankMessage(read.content);
    return message === undefined ? { ...failed(['it has no message in it']), digest } : { message, digest };
  }

  /**
   * Undefined at first. A file that no one can ever read must not keep all others in the inbox, and nor must one that
   * changes all the time, or one after the other: what counts is how long the others have waited. A check that fails for
   * every file gives each its own time.
   */
  async function giveUp(name: string, error: unknown): Promise<Reading | 'changed' | undefined> {
    const forMs = now() - (blockedSince ??= now());
    if (forMs < GIVE_UP_AFTER_MS && !passedOver.has(name)) {
      logger.warn('all reports wait for one that cannot be read; it is read again', { file: name, error });
      return undefined;
    }
    if (error instanceof CheckFailed) blockedSince = now();
    passedOver.add(name);
    const stats = await lstat(join(directory, name)).catch(() => undefined);
    return stats === undefined
      ? 'changed'
      : { stats, content: failed([`not readable for ${forMs} ms: ${String(error)}`]) };
  }

  /** Undefined if it must wait for an earlier report on its message, to keep the bank's order. */
  async function outcomeOf(
    name: string,
    { message, digest }: Content,
    { take, unfinished }: Round,
  ): Promise<ReportOutcome | undefined> {
    const about = 'statusReport' in message ? message.statusReport.originalMessageId : ANY_MESSAGE;
    const waits = about === ANY_MESSAGE ? unfinished.size > 0 : unfinished.has(about) || unfinished.has(ANY_MESSAGE);
    unfinished.add(about);
    if (waits) return undefined;
    const known = await records.reports.findOne({ digest, result: 'applied' });
    const context = { records, take, settledByOf: options.settledByOf, keepLease, now, logger, file: name };
    const outcome = known === null ? await apply(message, context) : { result: 'duplicate' as const, problems: [] };
    unfinished.delete(about);
    return { ...outcome, digest };
  }

  return { prepare: () => archive.prepare(), readAll };
}

interface Applying {
  records: Records;
  take: TakeNews;
  settledByOf: (iban: string) => SettledBy;
  keepLease: () => Promise<void>;
  now: () => number;
  logger: Logger;
  file: string;
}

async function apply(message: BankMessage, context: Applying): Promise<ReportOutcome> {
  if ('accountReport' in message) {
    const { messageId } = message.accountReport;
    return { ...(await applyAccountReport(message.accountReport, context)), messageId };
  }
  const { messageId, originalMessageId } = message.statusReport;
  return { ...(await applyStatusReport(message.statusReport, context)), messageId, originalMessageId };
}

async function applyAccountReport(report: AccountReport, context: Applying): Promise<ReportOutcome> {
  const { records, keepLease, ...more } = context;
  return outcomeWith(await applyBookings(report, { ...records, ...more, beforeEach: keepLease }));
}

async function applyStatusReport(report: StatusReport, context: Applying): Promise<ReportOutcome> {
  const { originalMessageId: _id } = report;
  const { members, batches } = context.records;
  const batch = await batches.findOne({ _id });
  if (batch === null) return failed(await reportUnknownMessage(report, context));
  const notOurs = differencesFrom(batch, report);
  // Nothing is applied, so the bank has not reported on this batch yet.
  if (notOurs.length > 0) return failed(notOurs);
  const reportedAt = context.now();
  await noteReport(batches, _id, reportedAt);
  const problems = await applyReport(report, {
    members,
    take: context.take,
    settledBy: context.settledByOf(batch.debtor.iban),
    writtenAgain: (batch.writings ?? 0) > 1,
    accepted: batch.acceptedAt !== undefined,
    now: context.now,
    beforeEach: context.keepLease,
  });
  // Afterwards: applied again after a crash, the report must find what it found before.
  if (showsAcceptance(report)) await noteAcceptance(batches, _id, context.now());
  await endBatch(context.records, { _id, reportedAt }, context.now());
  return outcomeWith(problems);
}

function outcomeWith(problems: string[]): ReportOutcome {
  return problems.length === 0 ? { result: 'applied', problems } : failed(problems);
}

/** Where the report describes another message than the one that we sent. */
function differencesFrom(batch: Batch, report: StatusReport): string[] {
  const stranger = report.payments.find(({ originalPaymentId = batch._id }) => originalPaymentId !== batch._id);
  const payments = stranger === undefined ? [] : [`${batch._id} has no payment ${stranger.originalPaymentId}`];
  return [...payments, ...differencesOf(report, batch)];
}

function failed(problems: readonly string[]): ReportOutcome {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  return { result: 'failed', problems: hidden === 0 ? shown : [...shown, `and ${hidden} more`] };
}
