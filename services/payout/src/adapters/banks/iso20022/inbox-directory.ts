import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@gateway/service-kit';
import type { StatusReport } from '../../../domain/iso20022/status-report';
import { FILE_MODE } from './pain001-file';
import type { TakeNews } from './apply-report';
import { applyReport } from './apply-report';
import type { WorkLease } from './lease';
import { readPain002, UnreadableReport, xmlText } from './pain002-file';
import type { Records, ReportRecord } from './records';
import { takeStep } from './records';
import type { SchemaCheck } from './schema-check';
import { PAIN_002 } from './schema-check';

/** A report on 10,000 payouts has about 2.5 MB; with the original transactions repeated, up to four times that. */
const MAX_REPORT_BYTES = 10 * 1024 * 1024;
/** What was written to a moment ago may still be; agents should write elsewhere and rename all the same. */
const QUIET_MS = 2_000;
/** Set aside, before the inbox is looked at again. Those that stay do not count: they keep nobody from having a turn. */
const MAX_FILES_PER_ROUND = 100;
const MAX_PROBLEMS = 100;

const DONE = 'done';
const FAILED = 'failed';
/** A name has at most 255 bytes in common file systems; what is put before and behind it takes 52 of them. */
const MAX_NAME_BYTES = 200;
const ID_LENGTH = 32;

export interface InboxDirectory {
  prepare(): Promise<void>;
  /** Reads what there is, oldest first, and sets it aside under `done/` or `failed/`. One replica at a time does so. */
  readAll(take: TakeNews): Promise<void>;
}

interface Round {
  take: TakeNews;
  /** Messages of which a report stays in the inbox. */
  unfinished: Set<string>;
}

type Outcome = Pick<ReportRecord, 'result' | 'problems'> & Partial<ReportRecord>;

/** Files end in `.xml`; names with a leading dot, links and folders are nobody's. */
export function createInboxDirectory(options: {
  directory: string;
  records: Records;
  lease: WorkLease;
  schemaCheck: SchemaCheck;
  /** Told of every file that is set aside. */
  onReport: (result: ReportRecord['result']) => void;
  logger: Logger;
  now: () => number;
}): InboxDirectory {
  const { directory, records, lease, logger, now } = options;

  async function prepare(): Promise<void> {
    for (const folder of [DONE, FAILED]) await mkdir(join(directory, folder), { recursive: true });
  }

  async function readAll(take: TakeNews): Promise<void> {
    const files = await waitingFiles();
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

  async function waitingFiles(): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile() && /^[^.].*\.xml$/i.test(entry.name))
      .map(({ name }) => name);
    const files = await Promise.all(names.map(async (name) => ({ name, stats: await statsOf(name) })));
    return files
      .flatMap(({ name, stats }) => (stats === undefined ? [] : { name, at: stats.mtimeMs }))
      .filter(({ at }) => at <= now() - QUIET_MS)
      .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
  }

  /** Undefined when it is gone: another replica has set it aside. */
  async function statsOf(name: string): Promise<Stats | undefined> {
    return lstat(join(directory, name)).catch(() => undefined);
  }

  /** A report that cannot be applied now stays where it is (false), and the others have their turn. */
  async function readOne(name: string, round: Round): Promise<boolean> {
    await keepLease();
    const stats = await statsOf(name);
    if (stats === undefined) return false;
    try {
      const outcome = await outcomeOf(name, stats.size, round);
      if (outcome !== undefined) await setAside(name, stats, outcome);
      return outcome !== undefined;
    } catch (error) {
      logger.warn('a report stays in the inbox; it is read again', { file: name, error });
      return false;
    }
  }

  async function keepLease(): Promise<void> {
    if (!(await lease.take())) throw new Error('another replica reads the inbox now');
  }

  /** Undefined where it has to wait for an earlier one of its message, so that the order stays the bank's. */
  async function outcomeOf(name: string, size: number, { take, unfinished }: Round): Promise<Outcome | undefined> {
    if (size > MAX_REPORT_BYTES) return failed([`${size} bytes are more than ${MAX_REPORT_BYTES}`]);
    const bytes = await readFile(join(directory, name));
    const digest = createHash('sha256').update(bytes).digest('hex');
    if ((await records.reports.findOne({ digest, result: 'applied' })) !== null) {
      return { result: 'duplicate', digest, problems: [] };
    }
    const report = await reportIn(bytes);
    if (typeof report === 'string') return { ...failed([report]), digest };
    const { messageId, originalMessageId } = report;
    if (unfinished.has(originalMessageId)) return undefined;
    unfinished.add(originalMessageId);
    const outcome = await apply(report, take);
    unfinished.delete(originalMessageId);
    return { ...outcome, digest, messageId, originalMessageId };
  }

  /** Or what is wrong with it. */
  async function reportIn(bytes: Buffer): Promise<StatusReport | string> {
    try {
      const text = xmlText(bytes);
      return (await options.schemaCheck.problemOf(bytes, PAIN_002)) ?? readPain002(text);
    } catch (error) {
      if (error instanceof UnreadableReport) return error.message;
      throw error;
    }
  }

  async function apply(report: StatusReport, take: TakeNews): Promise<Outcome> {
    const { originalMessageId } = report;
    const batch = await records.batches.findOneAndUpdate(
      ...takeStep('report', { _id: originalMessageId }, { $set: { reportedAt: now() }, $unset: { problem: '' } }),
    );
    if (batch === null) return failed([`no message ${originalMessageId} is known`]);
    const stranger = report.payments.find(
      ({ originalPaymentId = originalMessageId }) => originalPaymentId !== originalMessageId,
    );
    if (stranger !== undefined) return failed([`${originalMessageId} has no payment ${stranger.originalPaymentId}`]);
    const writtenAgain = (batch.writings ?? 0) > 1;
    const { members } = records;
    const problems = await applyReport(report, { members, take, writtenAgain, beforeEach: keepLease });
    return problems.length === 0 ? { result: 'applied', problems } : failed(problems);
  }

  async function setAside(name: string, { mtimeMs }: Stats, outcome: Outcome): Promise<void> {
    const { result, problems, digest } = outcome;
    const record: ReportRecord = { ...outcome, _id: idOf([name, mtimeMs, digest, result]), file: name, at: now() };
    await records.reports.replaceOne({ _id: record._id }, record, { upsert: true });
    await moveTo(result === 'failed' ? FAILED : DONE, name, record);
    options.onReport(result);
    // The problems quote the report, and with it account numbers.
    if (result === 'failed') logger.error('a report is set aside', { file: name, problems: problems.length });
  }

  async function moveTo(folder: string, name: string, record: ReportRecord): Promise<void> {
    const target = join(directory, folder, await freeName(folder, shortened(name), record._id));
    await rename(join(directory, name), target);
    if (folder !== FAILED) return;
    const shown = { ...record, at: new Date(record.at).toISOString() };
    await writeWhole(`${target}.error.json`, `${JSON.stringify(shown, undefined, 2)}\n`);
  }

  /** Banks use names again; what was set aside earlier stays. */
  async function freeName(folder: string, name: string, id: string): Promise<string> {
    const taken = await access(join(directory, folder, name)).then(
      () => true,
      () => false,
    );
    return taken ? `${id}.${name}` : name;
  }

  return { prepare, readAll };
}

/** The same for a file that is set aside again because it could not be moved: one record, however often. */
function idOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, ID_LENGTH);
}

/** Cut between two characters, and still a report by its ending. */
function shortened(name: string): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= MAX_NAME_BYTES) return name;
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_NAME_BYTES), { stream: true })}.xml`;
}

/** Whoever sees the file sees all of it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: FILE_MODE });
  await rename(`${path}.tmp`, path);
}

function failed(problems: readonly string[]): Outcome {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  return { result: 'failed', problems: hidden === 0 ? shown : [...shown, `and ${hidden} more`] };
}
