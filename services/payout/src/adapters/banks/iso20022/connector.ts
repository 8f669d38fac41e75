import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { MongoConnection } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { Gauge, repeat } from '@gateway/service-kit';
import type { BankConnector, Cancellation, Inquiry, SubmitAnswer } from '../../../application/bank-ports';
import type { BatchOperations, BatchSummary } from '../../../application/batch-ports';
import { lastCutOff } from '../../../domain/iso20022/cut-offs';
import { createBatches, summaryOf } from './batches';
import { createInboxDirectory } from './inbox-directory';
import { createWorkLease } from './lease';
import { createMembers } from './members';
import { createOutboxDirectory } from './outbox-directory';
import type { Batch } from './records';
import { createIndexes, openRecords } from './records';
import { createSchemaCheck } from './schema-check';
import { loadSettings } from './settings';

/** `Connection error between PSP and bank`: our own records could not be reached. */
const BROKEN_CONNECTION = 3118;
/** The database's own time-outs of looking, waiting and writing, together. */
const CALL_TIMEOUT_MS = 20_000;
/** An operator who cuts sees what came of it: several times what a file of 10,000 payouts takes. */
const LOOKS_MAX = 400;
const LOOK_EVERY_MS = 50;
const SECOND_MS = 1_000;

const UNREPORTED = { state: 'emitted', reportedAt: { $exists: false } } as const;

export interface Iso20022Connector extends BankConnector {
  readonly operations: BatchOperations;
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
  now?: () => number;
  newId?: () => string;
  /** For tests of a process that dies while it moves a file into the outbox. */
  move?: (from: string, to: string) => Promise<void>;
}): Iso20022Connector {
  const { mongo, logger, now = Date.now, newId = randomUUID } = options;
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
    now,
    newId,
    ...(options.move === undefined ? {} : { move: options.move }),
  });
  const inbox = createInboxDirectory({
    directory: settings.inboxDir,
    records,
    lease: createWorkLease({ leases: records.leases, work: 'inbox', owner: newId(), now }),
    schemaCheck,
    logger,
    now,
  });
  const started: { stop(): Promise<void> }[] = [];

  /** Instant payouts have no cut-off: they go with the next round. */
  async function cutDue(): Promise<void> {
    await batches.freeze({ instant: now(), others: lastCutOff(settings.cutOffs, now()) });
    await outbox.writeFrozen();
  }

  const operations: BatchOperations = {
    async cut(): Promise<BatchSummary[]> {
      const frozen = await batches.freeze({ instant: now(), others: now() });
      await outbox.writeFrozen();
      return whenWritten(frozen.map(({ _id }) => _id));
    },
    batches: (limit) => batches.summaries(limit),
    batchOf: (reference) => members.batchOf(reference),
    async rewrite(messageId) {
      const mayBe = await outbox.rewrite(messageId);
      const [batch] = await whenWritten([messageId]);
      return batch !== undefined && !mayBe ? 'not-to-be-written' : batch;
    },
  };

  /** In their order, as they are once nobody is writing them, or after 20 s: any replica may. */
  async function whenWritten(ids: readonly string[]): Promise<BatchSummary[]> {
    const filter = { _id: { $in: [...ids] } };
    const underWay = { ...filter, state: { $in: ['frozen', 'emitting'] satisfies Batch['state'][] } };
    for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
      if ((await records.batches.countDocuments(underWay)) === 0) break;
      await pause(LOOK_EVERY_MS);
    }
    const written = await records.batches.find(filter).toArray();
    return written.sort((a, b) => ids.indexOf(a._id) - ids.indexOf(b._id)).map(summaryOf);
  }

  gauge('held_batches', 'Batches that wait for an operator', () => records.batches.countDocuments({ state: 'held' }));
  gauge('unreported_batches', 'Batches in the outbox or beyond that no report was about', () =>
    records.batches.countDocuments(UNREPORTED),
  );
  gauge(
    'oldest_unreported_seconds',
    'Since the oldest of them went into the outbox; 0 when there is none',
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
    callTimeoutMs: CALL_TIMEOUT_MS,
    operations,
    submit: (instruction) => orUnknown<SubmitAnswer>(() => members.add(instruction), BROKEN_CONNECTION),
    inquire: (reference) => orUnknown<Inquiry>(() => members.inquire(reference), BROKEN_CONNECTION),
    cancel: (reference) => orUnknown<Cancellation>(() => members.cancel(reference), BROKEN_CONNECTION),
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
      await schemaCheck.stop();
    },
  };

  async function orUnknown<T>(work: () => Promise<T>, code: number): Promise<T | { kind: 'unknown'; code: number }> {
    try {
      return await work();
    } catch (error) {
      logger.warn('the records of the ISO 20022 connector cannot be reached', { error });
      return { kind: 'unknown', code };
    }
  }
}
