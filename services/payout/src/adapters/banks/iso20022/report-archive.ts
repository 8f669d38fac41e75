import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@gateway/service-kit';
import { isSame } from './inbox-files';
import { FILE_MODE } from './pain001-file';
import type { Records, ReportRecord } from './records';

const DONE = 'done';
const FAILED = 'failed';
export const REPORT_FOLDERS: readonly string[] = [DONE, FAILED];
/** File systems allow 255 bytes in a name; prefix and suffixes take up to 52. */
const MAX_NAME_BYTES = 200;
const ID_LENGTH = 32;

/** How reading a report ended. */
export type ReportOutcome = Pick<ReportRecord, 'result' | 'problems'> & Partial<ReportRecord>;

export interface ReportArchive {
  prepare(): Promise<void>;
  /**
   * Records the outcome of a report and moves its file to `done/` or `failed/`. False if the name means another file by
   * now, which is then left in the inbox.
   *
   * @param stats of the file whose content has this outcome
   */
  setAside(name: string, stats: Stats, outcome: ReportOutcome): Promise<boolean>;
}

export function createReportArchive(options: {
  inbox: string;
  reports: Records['reports'];
  /** Called for every file that is set aside. */
  onReport: (result: ReportRecord['result']) => void;
  logger: Logger;
  now: () => number;
}): ReportArchive {
  const { inbox, reports, logger, now } = options;

  /** False if another file has the name. */
  async function moveTo(folder: string, name: string, stats: Stats, record: ReportRecord): Promise<boolean> {
    const source = join(inbox, name);
    if (!isSame(await lstat(source), stats)) return false;
    const target = join(inbox, folder, await freeName(folder, shortened(name), record._id));
    await rename(source, target);
    if (!isSame(await lstat(target), stats)) {
      // It took the name in this moment, and has not been read.
      await rename(target, join(inbox, `${record._id}.${shortened(name)}`));
      return false;
    }
    if (folder !== FAILED) return true;
    const shown = { ...record, at: new Date(record.at).toISOString() };
    await writeWhole(`${target}.error.json`, `${JSON.stringify(shown, undefined, 2)}\n`);
    return true;
  }

  /** Banks reuse names; earlier files keep theirs. */
  async function freeName(folder: string, name: string, id: string): Promise<string> {
    const taken = await access(join(inbox, folder, name)).then(
      () => true,
      () => false,
    );
    return taken ? `${id}.${name}` : name;
  }

  return {
    async prepare() {
      for (const folder of REPORT_FOLDERS) await mkdir(join(inbox, folder), { recursive: true });
    },
    async setAside(name, stats, outcome) {
      const { result, problems, digest } = outcome;
      const record: ReportRecord = {
        ...outcome,
        _id: idOf([name, stats.mtimeMs, digest, result]),
        file: name,
        at: now(),
      };
      const endedAt = new Date(record.at);
      await reports.replaceOne({ _id: record._id }, { ...record, endedAt }, { upsert: true });
      const moved = await moveTo(result === 'failed' ? FAILED : DONE, name, stats, record);
      options.onReport(result);
      // The problems quote the report, including account numbers.
      if (result === 'failed') logger.error('a report is set aside', { file: name, problems: problems.length });
      return moved;
    },
  };
}

/** The same id if moving the file failed and it is set aside again: one record, however often. */
function idOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, ID_LENGTH);
}

/** Cut between two characters; the name still ends in `.xml`. */
function shortened(name: string): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= MAX_NAME_BYTES) return name;
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_NAME_BYTES), { stream: true })}.xml`;
}

/** Readers never see part of the file. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: FILE_MODE });
  await rename(`${path}.tmp`, path);
}
