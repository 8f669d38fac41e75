import { randomUUID } from 'node:crypto';
import { createClockFollower, openSigning } from '@gateway/accounts';
import { AUDIT_RETENTION, createHeadAnchors, openAudit } from '@gateway/audit';
import { queries, services } from '@gateway/contracts';
import { createHandle } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import { createFairSlots, createOwnerQueries, openOutboundProxy, retentionOf } from '@gateway/service-kit';
import { createAddressGuard } from './adapters/http/address-guard';
import { adminRoutes } from './adapters/http/admin-api';
import { merchantRoutes } from './adapters/http/merchant-routes';
import type { CallbackTimeouts } from './adapters/http/callback-client';
import { createCallbackClient } from './adapters/http/callback-client';
import type { OutcomeQueries } from './adapters/http/outcome-queries';
import { createOutcomeQueries } from './adapters/http/outcome-queries';
import { outcomeHandlers } from './adapters/kafka/outcomes';
import { publishEntries } from './adapters/kafka/publications';
import { createMerchants } from './adapters/merchants';
import { createFigures, registerGauges } from './adapters/metrics';
import { createAttempts } from './adapters/mongo/attempts';
import { createDeliveries } from './adapters/mongo/deliveries';
import { createFeed } from './adapters/mongo/feed';
import { createIncompletes } from './adapters/mongo/incompletes';
import { announce } from './application/announcements';
import { attemptDelivery, reportEnd } from './application/attempt-delivery';
import { createClaimer } from './application/claim-due';
import { createCompleter } from './application/complete-callbacks';
import { createDispatcher, DISPATCHER_LIMITS } from './application/dispatcher';
import { waitingDeliveries } from './application/follow-clock';
import { handBack } from './application/hand-back';
import type { OwnerGate } from './application/owner-gate';
import { createOwnerGate } from './application/owner-gate';
import type { Ports } from './application/ports';
import type { StrangerBudget } from './application/volume-budget';
import type { Config } from './config';
import { retryScheduleOf } from './config';
import type { CallbackKind } from './domain/callback';
import { CALLBACK_KINDS } from './domain/callback';
import { evolve } from './domain/delivery';
import { ensureIndexes } from './indexes';

/** A command line's entry has its hash in the log after this time. */
const ANCHOR_EVERY_MS = 10_000;
const LOOK_EVERY_MS = 200;
const COMPLETE_EVERY_MS = 1_000;
/** Outcomes handled together share one write. */
const OUTCOMES_AT_ONCE = 128;
/** Of these, that ask one owner for custom values, until it is known that it does not answer. */
const ASKING_AT_ONCE = 32;
/** Longer than a query usually takes. */
const ASK_WAIT_MS = 250;
/** Events come in flushes. Nobody waits for them so urgently that each flush needs fetches of its own. */
const GATHER_MS = 20;

export type CallbackDispatcher = Service<{ admin: number; ops: number }>;

export interface CallbackDispatcherDeps extends ServiceDeps<Config> {
  /** From 0 up to 1. */
  random?: () => number;
  /** PEM: trusted instead of the usual authorities. */
  ca?: string;
  timeouts?: Partial<CallbackTimeouts>;
  /** Events taken and not done. Default: the worker's. */
  maxHeldEvents?: number;
  /** Default: {@link STRANGER_BUDGET}. */
  strangers?: StrangerBudget;
}

/** Sends merchants the final outcomes that were committed, and retries until they acknowledge. */
export function createCallbackDispatcher(deps: CallbackDispatcherDeps): CallbackDispatcher {
  return createFramedService({ service: services.callbackDispatcher, deps, open });
}

async function open(frame: Frame<Config>, deps: CallbackDispatcherDeps): Promise<Parts<'admin'>> {
  const { config, mongo, clock, tracer, metrics, logger } = frame;
  const { now } = clock;
  const guard = createAddressGuard(config.CALLBACK_ALLOW_CIDRS);
  const client = createCallbackClient({
    ...{ guard, ca: deps.ca, timeouts: deps.timeouts },
    proxy: openOutboundProxy(config, metrics),
    proxyTarget: config.CALLBACK_PROXY_TARGET,
  });
  // After the database: an aborted call stays stored as unfinished, not as failed.
  frame.onStopLast(() => client.close());
  const queries = openQueries(config);
  frame.onStopLast(() => Object.values(queries).forEach((owner) => owner.close()));
  const deliveries = createDeliveries(mongo, clock);
  const incompletes = createIncompletes(mongo, clock);
  const attempts = createAttempts(mongo);
  await ensureIndexes(frame);
  const accounts = frame.database(await openSigning({ ...frame.storage, ...config }));
  await accounts.requireSafe(config);
  const audit = frame.database(await openAudit(frame.storage));
  await audit.ensureIndexes(retentionOf(config.AUDIT_RETENTION_DAYS, AUDIT_RETENTION));
  const outbox = frame.outbox(deliveries.outboxes, publishEntries(frame.publisher));
  const figures = createFigures(metrics);
  const ports: Ports = {
    deliveries,
    incompletes,
    handle: createHandle({
      store: deliveries,
      evolve,
      announce,
      publish: outbox.publish,
      onWritten: reportEnd({ figures, logger }),
      now,
      newId: randomUUID,
    }),
    attempts,
    feed: createFeed(mongo, clock),
    merchants: createMerchants(accounts),
    customValues: ({ kind, merchantAccount, reference }) => queries[kind].customValues(merchantAccount, reference),
    ownerGates: { card: openGate(now), payout: openGate(now) },
    post: (request) => client.post(request),
    figures,
    scheduleSeconds: retryScheduleOf(config),
    now,
    newId: randomUUID,
    random: deps.random ?? Math.random,
    tracer,
    logger,
  };
  const dispatcher = createDispatcher({
    limits: {
      ...DISPATCHER_LIMITS,
      ...(deps.strangers !== undefined && { strangers: deps.strangers }),
      concurrency: config.CALLBACK_CONCURRENCY,
      concurrencyPerMerchant: config.CALLBACK_CONCURRENCY_PER_MERCHANT,
      unprovenPerMerchant: config.CALLBACK_UNPROVEN_PER_MERCHANT,
      concurrencyPerAddress: config.CALLBACK_CONCURRENCY_PER_ADDRESS,
    },
    attempt: (delivery) => attemptDelivery(ports, delivery),
    handBack: (delivery) => handBack(ports, delivery),
    now,
    logger,
  });
  registerGauges({ metrics, dispatcher, deliveries, incompletes, now, logger });
  const { look } = createClaimer(ports, dispatcher);
  return {
    beside: [dispatcher],
    worker: {
      handlers: outcomeHandlers(ports, dispatcher),
      otherTypes: 'skip',
      limits: {
        concurrency: OUTCOMES_AT_ONCE,
        gatherMs: GATHER_MS,
        ...(deps.maxHeldEvents !== undefined && { maxHeld: deps.maxHeldEvents }),
      },
    },
    loops: [
      frame.repeat({ name: 'looking for due callbacks', everyMs: LOOK_EVERY_MS, work: () => look() }),
      frame.repeat({
        name: 'anchoring the audit log',
        everyMs: ANCHOR_EVERY_MS,
        work: createHeadAnchors({ audit, now, sign: accounts.signAnchor, logger }),
      }),
      ...CALLBACK_KINDS.map((kind) => createCompleter(ports, dispatcher, { kind, everyMs: COMPLETE_EVERY_MS })),
      createClockFollower({
        clocks: accounts.clocks,
        service: 'callback-dispatcher',
        kinds: [waitingDeliveries(ports)],
        now,
        logger,
      }),
    ],
    internal: {
      name: 'admin',
      port: config.CALLBACK_ADMIN_PORT,
      routes: [adminRoutes({ ...ports, audit }), merchantRoutes(ports)],
    },
  };
}

function openGate(now: () => number): OwnerGate {
  const waiting = { maxWaiting: OUTCOMES_AT_ONCE, waitTimeoutMs: ASK_WAIT_MS };
  return createOwnerGate({ slots: createFairSlots({ max: ASKING_AT_ONCE, ...waiting }), now });
}

/** The owners of the operations, which know the custom values. */
function openQueries({ CARD_QUERY_URL, PAYOUT_QUERY_URL, IDENTITY_TOKEN, INTERNAL_TLS_CA_FILE }: Config) {
  const trust = { identityToken: IDENTITY_TOKEN, caFile: INTERNAL_TLS_CA_FILE };
  const cards = createOwnerQueries('card-processing', { url: CARD_QUERY_URL, ...trust });
  const payouts = createOwnerQueries('payout', { url: PAYOUT_QUERY_URL, ...trust });
  return {
    card: createOutcomeQueries(cards, queries.operation),
    payout: createOutcomeQueries(payouts, queries.payout),
  } satisfies Record<CallbackKind, OutcomeQueries>;
}
