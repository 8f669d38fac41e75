import { randomUUID } from 'node:crypto';
import { openAccountDirectory } from '@gateway/accounts';
import { openAudit } from '@gateway/audit';
import { services } from '@gateway/contracts';
import { createHandle, registerOverdue, registerUnknownOutcomes, resolverLeaseMs } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import { createDetachedWork, openOutboundProxy } from '@gateway/service-kit';
import { openBanks } from './adapters/banks/banks';
import { adminRoutes } from './adapters/http/admin-api';
import { holdRoutes } from './adapters/http/hold-api';
import { queryRoutes } from './adapters/http/query-api';
import { deadLetterHandler, messageHandlers } from './adapters/kafka/commands';
import { publishEntries } from './adapters/kafka/publications';
import { registerHoldGauges } from './adapters/mongo/hold-metrics';
import type { HoldsAdapter } from './adapters/mongo/holds';
import { createHolds } from './adapters/mongo/holds';
import { createPayouts } from './adapters/mongo/payouts';
import { createReservations } from './adapters/mongo/reservations';
import { announce } from './application/announcements';
import { applyNews } from './application/apply-news';
import { releaseEnded } from './application/hold-payouts';
import type { Ports } from './application/ports';
import { createResolver } from './application/resolve-payouts';
import { resumeHeld } from './application/resume-held';
import { createScreening } from './application/screen-payout';
import type { Screening } from './application/screening-ports';
import type { Config } from './config';
import { nameOf } from './domain/holds';
import { evolve } from './domain/payout';
import { ensureIndexes } from './indexes';

const RESOLVE_EVERY_MS = 250;
/** How long a payout may wait after its hold has ended. */
const RESUME_EVERY_MS = 1_000;
const RELEASE_ENDED_EVERY_MS = 5_000;

export type Payout = Service<{ query: number; ops: number }>;

export interface PayoutDeps extends ServiceDeps<Config> {
  /** For the connectors' own settings. */
  env: Record<string, string | undefined>;
  /** Replaces the accounts' rules in tests. */
  screening?: Screening;
}

/** Owns payouts: takes commands, screens, submits to banks, stores every payout, answers for the outcome. */
export function createPayout(deps: PayoutDeps): Payout {
  return createFramedService({ service: services.payout, deps, open });
}

async function open(frame: Frame<Config>, deps: PayoutDeps): Promise<Parts<'query'>> {
  const { config, mongo, clock, tracer, metrics, logger } = frame;
  const { now } = clock;
  const callsAtOnce = config.BANK_CALLS_AT_ONCE;
  const payouts = createPayouts(mongo, clock);
  const reservations = createReservations(mongo, { now });
  const holds = heldInRecovery(createHolds(mongo, clock), frame.recovery);
  await ensureIndexes(frame);
  registerHoldGauges({ metrics, logger }, { holds, countHeld: payouts.countHeld });
  registerUnknownOutcomes({ metrics, now, logger }, payouts.unknownOutcomes);
  registerOverdue({ metrics, now, logger }, { inquiry: payouts.countOverdue });
  const held = await holds.read();
  if (held.length > 0) logger.warn('operators hold payouts', { scopes: held.map(({ scope }) => nameOf(scope)) });
  const accounts = frame.database(await openAccountDirectory(frame.storage));
  const audit = frame.database(await openAudit(frame.storage));
  const { NODE_ENV, ALLOW_SIMULATED_MONEY: simulatedMoney } = config;
  await accounts.requireSafe({ NODE_ENV });
  const outbox = frame.outbox(payouts.outboxes, publishEntries(frame.publisher));
  const { directory } = accounts;
  const banks = await openBanks(config.PAYOUT_BANK, {
    ...{ env: deps.env, simulatedMoney, callsAtOnce, mongo, logger, metrics, clock },
    ...{ holds, accounts: directory, proxy: openOutboundProxy(config, metrics) },
  });
  const calls = createDetachedWork({ name: 'submission to a bank', max: callsAtOnce, logger });
  const ports: Ports = {
    payouts,
    handle: createHandle({ store: payouts, evolve, announce, publish: outbox.publish, now, newId: randomUUID }),
    accounts: directory,
    holds,
    screening: deps.screening ?? createScreening({ reservations, accounts: directory, paidTo: payouts.paidTo }),
    bankFor: (currency) => banks.nameFor(currency),
    bank: (name) => banks.get(name),
    recovery: frame.recovery,
    claimMs: resolverLeaseMs(banks.longestCallMs),
    calls,
    now,
    tracer,
    logger,
  };
  const batches = banks.all.find(({ operations }) => operations !== undefined)?.operations;
  return {
    beside: [
      ...banks.all.map((bank) => ({
        start: () => bank.start((news) => applyNews(ports, bank.name, news)),
        stop: () => bank.stop(),
      })),
      calls,
    ],
    worker: {
      handlers: messageHandlers(ports),
      onDeadLetter: deadLetterHandler(ports),
      limits: { concurrency: config.CONCURRENCY },
    },
    loops: loopsOf(frame, ports),
    internal: {
      name: 'query',
      port: config.PAYOUT_QUERY_PORT,
      routes: [
        holdRoutes({ ...ports, accounts: directory, batches, audit }),
        adminRoutes({ ...ports, audit }, batches),
        queryRoutes(ports),
      ],
    },
  };
}

/** In a recovery everything is held: what the restored records lack may be with a bank (ADR 0088). */
function heldInRecovery(holds: HoldsAdapter, { current }: Frame<Config>['recovery']): HoldsAdapter {
  return {
    ...holds,
    async read() {
      const recovery = current();
      const held = await holds.read();
      return recovery === undefined
        ? held
        : [...held, { scope: { kind: 'all' }, since: recovery.noticedAt, by: 'recovery' }];
    },
  };
}

function loopsOf(frame: Frame<Config>, ports: Ports): NonNullable<Parts<'query'>['loops']> {
  return [
    createResolver(ports, { everyMs: RESOLVE_EVERY_MS, atOnce: Math.floor(frame.config.BANK_CALLS_AT_ONCE / 2) }),
    frame.repeat({
      name: 'resuming of held payouts',
      everyMs: RESUME_EVERY_MS,
      work: (stopping) => resumeHeld(ports, stopping),
    }),
    frame.repeat({
      name: 'releasing of ended payouts',
      everyMs: RELEASE_ENDED_EVERY_MS,
      work: () => releaseEnded(ports),
    }),
  ];
}
