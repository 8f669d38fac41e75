import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { Clock, MongoConnection } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { Counter, Gauge, repeat } from '@gateway/service-kit';
import type { BankConnector, Cancellation, Inquiry, SubmitAnswer } from '../../../application/bank-ports';
import type { BatchOperations, BatchSummary } from '../../../application/batch-ports';
import { lastCutOff } from '../../../domain/iso20022/cut-offs';
import { createBatches, summaryOf } from './batches';
import { createInboxDirectory } from './inbox-directory';
import { createWorkLease } from './lease';
import { createMembers } from './members';
import { createOutboxDirectory } from './outbox-directory';
import { createIndexes, isUnwritten, openRecords } from './records';
import { createSchemaCheck } from './schema-check';
import { loadSettings } from './settings';

/** The database's own time-outs of looking, waiting and writing, together. */
const CALL_TIMEOUT_MS = 20_000;
/** Several times what a file of 10,000 payouts takes; many files take longer than an operator's command line waits. */
const ANSWER_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 50;
const SECOND_MS = 1_000;

/** Our own records cannot be reached. */
const UNREACHABLE = { kind: 'unknown', code: RESPONSE_CODES.BANK_CONNECTION_ERROR } as const;
const UNREPORTED = { state: 'emitted', reportedAt: { $exists: false } } as const;

export interface Iso20022Connector extends BankConnector {
  readonly operations: BatchOperations;
  inquire(reference: string): Promise<Inquiry>;
  cancel(reference: string): Promise<Cancellation>;
}

/**
 * Payouts as files: collected into pain.001 documents, which an operator's agent takes from a directory to the bank, and
 * told of by the pain.002 reports that it puts into another. Settings are read from `env`; throws a ConfigurationError.
 */
export function createIso20022Connector(options: {
  mongo: MongoConnection;
  env: Record<string, string | undefined>;
  logger: Logger;
  metrics: Registry;
  clock: Clock;
  newId?: () => string;
  /** For tests of a process that dies while it moves a file into the outbox. */
  move?: (from: string, to: string) => Promise<void>;
  /** How long an operator waits for files to be written. */
  answerWithinMs?: number;
}): Iso20022Connector {
  const { mongo, logger, clock, newId = randomUUID, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const { now } = clock;
  const settings = loadSettings(options.env);
  const records = openRecords(mongo);
  const schemaCheck = createSchemaCheck();
  const members = createMembers({ members: records.members, debtorOf: settings.debtorOf, now });
  const batches = createBatches({ mongo, records, ...settings, now, newId });
  const outbox = createOutboxDirectory({
    directory: settings.outboxDir,
    records,
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
  const inbox = createInboxDirectory({
    directory: settings.inboxDir,
    records,
    lease: createWorkLease({ leases: records.leases, work: 'inbox', owner: newId(), clock }),
    schemaCheck,
    onReport: (result) => reports.inc({ result }),
    logger,
    now,
  });
  const started: { stop(): Promise<void> }[] = [];
  let writing: Promise<unknown> = Promise.resolve();

  /** Instant payouts have no cut-off: they go with the next round. */
  async function cutDue(): Promise<void> {
    await batches.freeze({ instant: now(), others: lastCutOff(settings.cutOffs, now()) });
    await outbox.writeFrozen();
  }

  const operations: BatchOperations = {
    async cut(): Promise<BatchSummary[]> {
      const frozen = await batches.freeze({ instant: now(), others: now() });
      return whenWritten(
        frozen.map(({ _id }) => _id),
        outbox.writeFrozen(),
      );
    },
    batches: (limit) => batches.summaries(limit),
    batchOf: (reference) => members.batchOf(reference),
    async rewrite(messageId) {
      const released = await outbox.release(messageId);
      const [batch] = await whenWritten([messageId], released ? outbox.writeFrozen() : Promise.resolve());
      return batch !== undefined && !released ? 'not-to-be-written' : batch;
    },
  };

  /** In their order, as they are once nobody is writing them, which any replica may; or, if that takes long, by then. */
  async function whenWritten(ids: readonly string[], ours: Promise<void>): Promise<BatchSummary[]> {
    writing = Promise.allSettled([writing, ours]);
    const filter = { _id: { $in: [...ids] } };
    const unwritten = { ...filter, ...isUnwritten };
    const tooLong = pause(answerWithinMs, true, { ref: false });
    let isOver = await Promise.race([ours, tooLong]);
    while (isOver !== true && (await records.batches.countDocuments(unwritten)) > 0) {
      isOver = await Promise.race([pause(LOOK_EVERY_MS), tooLong]);
    }
    const found = await records.batches.find(filter).toArray();
    return found.sort((a, b) => ids.indexOf(a._id) - ids.indexOf(b._id)).map(summaryOf);
  }

  gauge('held_batches', 'Batches that wait for an operator', () => records.batches.countDocuments({ state: 'held' }));
  gauge('unreported_batches', 'Batches that were written and not reported on', () =>
    records.batches.countDocuments(UNREPORTED),
  );
  gauge(
    'oldest_unreported_seconds',
    'Age of the oldest unreported batch, from its move into the outbox; 0 if there is none',
    async () => {
      const oldest = await records.batches.findOne(UNREPORTED, { sort: { emittedAt: 1 } });
      return oldest === null ? 0 : (now() - (oldest.emittedAt ?? oldest.createdAt)) / SECOND_MS;
    },
  );

  function gauge(name: string, help: string, value: () => Promise<number>): void {
    new Gauge({
      name: `gateway_iso20022_${name}`,
      help,
      registers: [options.metrics],
      async collect() {
        this.set(await value());
      },
    });
  }

  return {
    name: 'iso20022',
    longestCallMs: CALL_TIMEOUT_MS,
    // Its records are in our own database: there is no counterpart to wait for.
    placeForNew: () => ({ leave: () => undefined }),
    operations,
    submit: (instruction) => orUnknown<SubmitAnswer>(() => members.add(instruction)),
    inquire: (reference) => orUnknown<Inquiry>(() => members.inquire(reference)),
    cancel: (reference) => orUnknown<Cancellation>(() => members.cancel(reference)),
    async start(take) {
      await createIndexes(records);
      await mkdir(settings.outboxDir, { recursive: true });
      await inbox.prepare();
      const rounds = [
        repeat({ name: 'writing of batches', everyMs: settings.pollMs, work: cutDue, logger }),
        repeat({ name: 'reading of reports', everyMs: settings.pollMs, work: () => inbox.readAll(take), logger }),
      ];
      for (const round of rounds) round.start();
      started.push(...rounds);
    },
    async stop() {
      for (const round of started.splice(0)) await round.stop();
      await writing;
      await schemaCheck.stop();
    },
  };

  async function orUnknown<T>(work: () => Promise<T>): Promise<T | typeof UNREACHABLE> {
    try {
      return await work();
    } catch (error) {
      logger.warn('the records of the ISO 20022 connector cannot be reached', { error });
      return UNREACHABLE;
    }
  }
}
