import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { BankNews } from '../../../application/bank-ports';
import type { SettledBy } from '../../../domain/iso20022/booking';
import { createInboxDirectory } from './inbox-directory';
import type { InboxFiles } from './inbox-files';
import { OUR_IBAN } from './iso20022.fixture';
import type { WorkLease } from './lease';
import { createWorkLease } from './lease';
import type { Records } from './records';
import { openRecords } from './records';
import type { SchemaCheck } from './schema-check';
import { createSchemaCheck } from './schema-check';

export const NOON = Date.parse('2026-11-21T12:00:00Z');

/** Of each transfer of {@link emit}. */
export const AMOUNT_E4 = 310_100;

/** What the tests of a file read an inbox with. */
export interface OwnRecords {
  records: Records;
  schemaCheck: SchemaCheck;
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** Records in a database of their own, which is removed at the end. */
export async function openOwnRecords(uri: string): Promise<OwnRecords> {
  const mongo = await connectMongo({ uri, database: `iso20022-${randomBytes(4).toString('hex')}` });
  const records = openRecords(mongo);
  const schemaCheck = createSchemaCheck();
  return {
    records,
    schemaCheck,
    async empty() {
      await Promise.all([records.members.deleteMany({}), records.batches.deleteMany({})]);
      await Promise.all([records.reports.deleteMany({}), records.leases.deleteMany({})]);
    },
    async close() {
      await schemaCheck.stop();
      await mongo.mongoose.dropDatabase();
      await mongo.close();
    },
  };
}

/** Puts a message on record that the bank has, with these transactions of 31.01 each. */
export async function emit({ batches, members }: Records, message: string, ...references: string[]): Promise<void> {
  const debtor = { name: 'Gateway Ltd', iban: OUR_IBAN };
  await batches.insertOne({
    ...{ _id: message, state: 'emitted', debtor, initiatingParty: debtor.name, instant: false },
    ...{ payouts: references.length, totalE4: references.length * AMOUNT_E4, createdAt: NOON, leaseUntil: 0 },
    writings: 1,
  });
  await members.insertMany(
    references.map((_id) => ({ _id, state: 'sent', since: NOON, batch: message, amountE4: AMOUNT_E4 })),
  );
}

export interface Inbox {
  directory: string;
  clock: { now: number };
  /** What was told of each payout, in order. */
  told: string[];
  news: BankNews[];
  /** The log. */
  lines: string[];
  /** What the last round saw. */
  seen(): InboxFiles | undefined;
  round(onNews?: (reference: string) => Promise<void>): Promise<void>;
  /** In the bank's order: each is dated a second after the one before. */
  deliver(name: string, content: string | Buffer): void;
  /** Changes when the file was modified, epoch ms. */
  touch(name: string, at: number): void;
  files(folder?: string): string[];
  problemsOf(name: string): string[];
}

/** An inbox that is read by hand. `beforeCheck` runs before the schema check of each file, and may fail. */
export async function openInbox(
  records: Records,
  schemaCheck: SchemaCheck,
  beforeCheck: (xml: Uint8Array) => Promise<void> = () => Promise.resolve(),
  settledBy: SettledBy = 'either',
): Promise<Inbox> {
  const directory = mkdtempSync(join(tmpdir(), 'iso20022-inbox-'));
  const clock = { now: NOON };
  const news: BankNews[] = [];
  const told: string[] = [];
  const lines: string[] = [];
  let seen: InboxFiles | undefined;
  const inbox = createInboxDirectory({
    directory,
    records,
    lease: leaseOf(records, 'one', clock),
    schemaCheck: {
      ...schemaCheck,
      read: async (xml, ...more) => {
        await beforeCheck(xml);
        return schemaCheck.read(xml, ...more);
      },
    },
    settledByOf: () => settledBy,
    onReport: () => undefined,
    onLook: (files) => void (seen = files),
    logger: loggerInto(lines),
    now: () => clock.now,
  });
  await inbox.prepare();
  let delivered = 0;
  const touch = (name: string, at: number) => utimesSync(join(directory, name), at / 1_000, at / 1_000);
  return {
    directory,
    clock,
    told,
    news,
    lines,
    seen: () => seen,
    round: (onNews) =>
      inbox.readAll(async (one) => {
        await onNews?.(one.reference);
        news.push(one);
        told.push(`${one.reference} ${one.outcome.kind}`);
        return 'applied';
      }),
    deliver(name, content) {
      writeFileSync(join(directory, name), content);
      touch(name, NOON - 60_000 + (delivered += 1) * 1_000);
    },
    touch,
    files: (folder = '.') => readdirSync(join(directory, folder)).filter((name) => name.endsWith('.xml')),
    problemsOf(name) {
      const text = readFileSync(join(directory, 'failed', `${name}.error.json`), 'utf8');
      return (JSON.parse(text) as { problems: string[] }).problems;
    },
  };
}

export function leaseOf({ leases }: Records, owner: string, clock: { now: number }): WorkLease {
  return createWorkLease({ leases, work: 'inbox', owner, clock: clockAt(() => clock.now) });
}

export function loggerInto(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>) => void lines.push(`${message} ${inspect(fields)}`);
  return { debug: write, info: write, warn: write, error: write, child: () => loggerInto(lines) };
}
