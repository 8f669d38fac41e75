import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Clock, MongoConnection } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { Counter, fromZero, repeat } from '@gateway/service-kit';
import type { BankConnector, Cancellation, Inquiry, SubmitAnswer } from '../../../application/bank-ports';
import type { BatchOperations } from '../../../application/batch-ports';
import type { Accounts } from '../../../application/ports';
import { lastCutOff } from '../../../domain/iso20022/cut-offs';
import type { HoldsAdapter } from '../../mongo/holds';
import { createBatches } from './batches';
import { createDepartures } from './departures';
import { endRecords } from './ends';
import { createInboxDirectory } from './inbox-directory';
import { createWorkLease } from './lease';
import { createManifests } from './manifests';
import { createMembers } from './members';
import { createInboxGauge, registerGauges } from './metrics';
import { createOperations } from './operations';
import { createOutboxDirectory } from './outbox-directory';
import { nameAccounts, openRecords } from './records';
import { createSchemaCheck } from './schema-check';
import { loadSettings } from './settings';

/** The database's own time-outs of looking, waiting and writing, together. */
const CALL_TIMEOUT_MS = 20_000;
/** Retention is counted in days. */
const END_EVERY_MS = 3_600_000;

export interface Iso20022Connector extends BankConnector {
  readonly operations: BatchOperations;
  inquire(reference: string): Promise<Inquiry>;
  cancel(reference: string): Promise<Cancellation>;
}

/**
 * Pays out by files: it collects payouts into pain.001 documents, which an operator's agent carries from the outbox to
 * the bank, and reads the bank's reports, statements and returns from the inbox. Reads settings from `env`; throws a
 * ConfigurationError.
 */
export function createIso20022Connector(options: {
  mongo: MongoConnection;
  env: Record<string, string | undefined>;
  logger: Logger;
  metrics: Registry;
  clock: Clock;
  holds: HoldsAdapter;
  accounts: Pick<Accounts, 'findLatest'>;
  newId?: () => string;
  /** For tests that crash while a file is moved into the outbox. */
  move?: (from: string, to: string) => Promise<void>;
  /** How long an operator's command waits for files to be written. */
  answerWithinMs?: number;
}): Iso20022Connector {
  const { mongo, logger, clock, newId = randomUUID } = options;
  const { now } = clock;
  const settings = loadSettings(options.env);
  const records = openRecords(mongo);
  const schemaCheck = createSchemaCheck();
  const departures = createDepartures({ holds: options.holds, accounts: options.accounts, members: records.members });
  const manifests = createManifests({ outbox: settings.outboxDir, records, departures, logger, newId });
  const members = createMembers({ records, manifests, debtorOf: settings.debtorOf, now, logger });
  const batches = createBatches({ records, departures, ...settings, now, newId });
  const outbox = createOutboxDirectory({
    directory: settings.outboxDir,
    records,
    departures,
    manifests,
    schemaCheck,
    logger,
    clock,
    newId,
    ...(options.move === undefined ? {} : { move: options.move }),
  });
  const reports = new Counter({
    name: 'gateway_iso20022_reports_total',
    help: 'Files taken from the inbox, by result: applied, duplicate, failed',
    labelNames: ['result'],
    registers: [options.metrics],
  });
  fromZero(reports, { result: ['applied', 'duplicate', 'failed'] });
  const inbox = createInboxDirectory({
    directory: settings.inboxDir,
    records,
    lease: createWorkLease({ leases: records.leases, work: 'inbox', owner: newId(), clock }),
    schemaCheck,
    settledByOf: settings.settledByOf,
    onReport: (result) => reports.inc({ result }),
    onLook: createInboxGauge(options.metrics),
    logger,
    now,
  });
  const started: { stop(): Promise<void> }[] = [];
  const { operations, settled } = createOperations({
    batches,
    outbox,
    members,
    written: records.batches,
    reports: records.reports,
    now,
    ...(options.answerWithinMs === undefined ? {} : { answerWithinMs: options.answerWithinMs }),
  });
  registerGauges({ metrics: options.metrics, now, logger, outcomeDays: settings.outcomeDays }, records.batches);

  /** Instant payouts have no cut-off; they go into the next round. */
  async function cutDue(): Promise<void> {
    await batches.freezeInRound({ instant: now(), others: lastCutOff(settings.cutOffs, now()) });
    await outbox.writeFrozen();
  }

  async function endAll(): Promise<void> {
    await endRecords(records, now());
    await manifests.prune(now());
  }

  /** Nothing is written or cancelled until they can be read; reports about other files count. */
  async function unlessUnreadable(reconciled: Promise<void>): Promise<void> {
    await reconciled.catch((error: unknown) => logger.error('the records of the outbox cannot be read', { error }));
  }

  return {
    name: 'iso20022',
    longestCallMs: CALL_TIMEOUT_MS,
    callMs: CALL_TIMEOUT_MS,
    // Its records are in our own database, so there is no counterpart to wait for.
    placeForNew: () => ({ leave: () => undefined }),
    operations,
    submit: async (instruction, { instead } = {}) =>
      (await instead?.()) ?? unlessAway<SubmitAnswer>({ kind: 'not-sent' }, () => members.add(instruction)),
    inquire: (reference) => unlessAway<Inquiry>({ kind: 'unknown' }, () => members.inquire(reference)),
    cancel: (reference) => unlessAway<Cancellation>({ kind: 'unknown' }, () => members.cancel(reference)),
    async start(take) {
      await nameAccounts(records);
      await mkdir(settings.outboxDir, { recursive: true });
      await inbox.prepare();
      await unlessUnreadable(manifests.reconcile());
      const rounds = [
        repeat({ name: 'writing of batches', everyMs: settings.pollMs, work: cutDue, logger }),
        repeat({ name: 'reading of reports', everyMs: settings.pollMs, work: () => inbox.readAll(take), logger }),
        repeat({ name: 'ending of records', everyMs: END_EVERY_MS, work: endAll, logger }),
      ];
      for (const round of rounds) round.start();
      started.push(...rounds);
    },
    async stop() {
      for (const round of started.splice(0)) await round.stop();
      await settled();
      await schemaCheck.stop();
    },
  };

  async function unlessAway<T>(answer: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      logger.warn('the records of the ISO 20022 connector cannot be reached', { error });
      return answer;
    }
  }
}
