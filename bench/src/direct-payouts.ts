import { randomUUID } from 'node:crypto';
import type { AccountDirectory } from '@gateway/accounts';
import type { PayoutCommand, PayoutQueries } from '@gateway/api-edge/dist/application/ports';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, createHandle, createOutbox, resolverLeaseMs } from '@gateway/mongo';
import { openBanks } from '@gateway/payout/dist/adapters/banks/banks';
import { requestOf } from '@gateway/payout/dist/adapters/kafka/commands';
import { createHolds } from '@gateway/payout/dist/adapters/mongo/holds';
import { createPayouts } from '@gateway/payout/dist/adapters/mongo/payouts';
import { createReservations } from '@gateway/payout/dist/adapters/mongo/reservations';
import { announce } from '@gateway/payout/dist/application/announcements';
import type { Ports } from '@gateway/payout/dist/application/ports';
import { processCommand } from '@gateway/payout/dist/application/process-command';
import { findOutcome, listOutcomes } from '@gateway/payout/dist/application/query-payouts';
import { createScreening } from '@gateway/payout/dist/application/screen-payout';
import { evolve } from '@gateway/payout/dist/domain/payout';
import type { Logger, Registry } from '@gateway/service-kit';
import { createMetrics, createDetachedWork, noTracer } from '@gateway/service-kit';

/** The concurrency of the payout service. */
const CONCURRENCY = 128;
const CALLS_AT_ONCE = 512;

export interface DirectPayouts {
  queries: PayoutQueries;
  /** Resolves when the payout is queued, like on a topic. */
  publish(command: PayoutCommand): Promise<void>;
}

/** The payout service's own code with a list instead of its topic. */
export async function openDirectPayouts(options: {
  mongo: MongoConnection;
  accounts: AccountDirectory;
  logger: Logger;
  metrics: Registry;
}): Promise<DirectPayouts> {
  const { mongo, accounts, logger, metrics } = options;
  const now = Date.now;
  const clock = clockAt(now);
  const payouts = createPayouts(mongo, clock);
  const reservations = createReservations(mongo, { now });
  const holds = createHolds(mongo, clock);
  await Promise.all([payouts.ensureIndexes(), reservations.ensureIndexes(), holds.ensureDocument()]);
  const outbox = createOutbox({
    collection: payouts.outboxes,
    publish: async () => {},
    clock,
    metrics: createMetrics('outbox', { processFigures: false }),
    logger,
  });
  outbox.start();
  const banks = await openBanks('simulator', {
    env: process.env,
    simulatedMoney: 'yes',
    callsAtOnce: CALLS_AT_ONCE,
    mongo,
    logger,
    metrics,
    clock,
    holds,
    accounts,
  });
  const ports: Ports = {
    recovery: { mayHaveBeenHandled: () => false },
    payouts,
    handle: createHandle({ store: payouts, evolve, announce, publish: outbox.publish, now, newId: randomUUID }),
    accounts,
    holds,
    screening: createScreening({ reservations, accounts, paidTo: payouts.paidTo }),
    bankFor: (currency) => banks.nameFor(currency),
    bank: (name) => banks.get(name),
    claimMs: resolverLeaseMs(banks.longestCallMs),
    calls: createDetachedWork({ name: 'submission', max: CALLS_AT_ONCE, logger }),
    now,
    tracer: noTracer,
    logger,
  };
  const waiting: PayoutCommand[] = [];
  let running = 0;
  const runNext = (): void => {
    if (running >= CONCURRENCY) return;
    const command = waiting.shift();
    if (command === undefined) return;
    running += 1;
    void processCommand(ports, { request: requestOf(command.data), id: randomUUID() }).finally(() => {
      running -= 1;
      runNext();
    });
  };
  return {
    queries: {
      outcome: (account, reference) => findOutcome(ports, account, reference),
      list: (merchantAccount, query) => listOutcomes(ports, { merchantAccount, ...query }),
      onRecord: (references) => payouts.onRecord(references),
    },
    async publish(command) {
      waiting.push(command);
      runNext();
    },
  };
}
