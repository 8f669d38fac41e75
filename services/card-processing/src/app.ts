import { randomUUID } from 'node:crypto';
import { createClockFollower, openAccountDirectory } from '@gateway/accounts';
import { cardCommands, cardEvents, CvvKeyIssued, OperationReplied, services } from '@gateway/contracts';
import { createTopicReader } from '@gateway/messaging';
import { createHandle, registerOverdue, registerUnknownOutcomes } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import { createDetachedWork, openOutboundProxy } from '@gateway/service-kit';
import { openVaultReader } from '@gateway/vault';
import type { Connectors } from './adapters/acquirers/connectors';
import { openConnectors } from './adapters/acquirers/connectors';
import { queryRoutes } from './adapters/http/query-api';
import { messageHandlers, deadLetterHandler } from './adapters/kafka/commands';
import { publishEntries, sendReply } from './adapters/kafka/publications';
import { countRefusals } from './adapters/metrics';
import { createCounters } from './adapters/mongo/counters';
import { createPayments } from './adapters/mongo/payments';
import { announce } from './application/announcements';
import { waitingPayments } from './application/follow-clock';
import type { Ports } from './application/ports';
import { countEnd } from './application/screen-attempt';
import { createResolver } from './application/resolve-outcomes';
import type { Config } from './config';
import { holdsOf } from './config';
import type { Payment, PaymentEvent } from './domain/payment';
import { evolve, pendingReference } from './domain/payment';
import { ensureIndexes } from './indexes';

const RESOLVE_EVERY_MS = 250;
/** Lets the threeds service end a challenge first, unless it has lost it. */
const AUTHENTICATION_MARGIN_SECONDS = 300;
/** Calls that run or wait, and answers being stored. Beyond this, commands wait. */
const CALLS_UNDER_WAY_FACTOR = 4;

export type CardProcessing = Service<{ query: number; ops: number }>;

export interface CardProcessingDeps extends ServiceDeps<Config> {
  /** For the connectors' own settings. */
  env: Record<string, string | undefined>;
  /** For tests with other connectors; default: those of `adapters/acquirers`. */
  connectors?: Connectors;
}

/** Owns card payments: takes commands, stores every operation, calls acquirers, answers for the outcome. */
export function createCardProcessing(deps: CardProcessingDeps): CardProcessing {
  return createFramedService({ service: services.cardProcessing, deps, open });
}

async function open(frame: Frame<Config>, deps: CardProcessingDeps): Promise<Parts<'query'>> {
  const { config, mongo, clock, publisher, tracer, metrics, logger } = frame;
  const { now } = clock;
  const payments = createPayments(mongo, clock);
  await ensureIndexes(frame);
  registerUnknownOutcomes({ metrics, now, logger }, payments.unknownOutcomes);
  registerOverdue({ metrics, now, logger }, { inquiry: payments.countOverdue });
  const { vault, cvvKeys } = frame.database(await openVaultReader({ ...frame.storage, ...config }));
  const { clocks, ...accounts } = frame.database(await openAccountDirectory(frame.storage));
  await accounts.requireSafe(config);
  const keyReader = createTopicReader({
    kafka: frame.kafka,
    name: `${services.cardProcessing.name}.cvv-keys`,
    topicPrefix: frame.topicPrefix,
    declaration: CvvKeyIssued,
    onMessage: ({ data }) => cvvKeys.accept(data),
    onFatal: deps.onFatal,
    logger,
  });
  const callsAtOnce = config.ACQUIRER_CALLS_AT_ONCE;
  const connectors = openConnectors(
    config.ACQUIRERS.split(','),
    {
      ...{ env: deps.env, simulatedMoney: config.ALLOW_SIMULATED_MONEY, callsAtOnce, metrics },
      proxy: openOutboundProxy(config, metrics),
    },
    deps.connectors,
  );
  frame.onStop(() => connectors.forEach((connector) => connector.close()));
  const outbox = frame.outbox(payments.outboxes, publishEntries(publisher));
  const calls = createDetachedWork({
    name: 'call to an acquirer',
    // Of each acquirer, so that one that hangs, the simulator's too, leaves the others all of theirs.
    max: CALLS_UNDER_WAY_FACTOR * callsAtOnce * connectors.size,
    logger,
  });
  const counters = createCounters(mongo, { now, logger });
  frame.onStop(() => counters.drain());
  const countRefusal = countRefusals(metrics);
  const onWritten = (event: PaymentEvent, payment: Payment): void => {
    countRefusal(event);
    countEnd({ counters }, event, payment);
  };
  const ports: Ports = {
    payments,
    handle: createHandle({
      store: payments,
      evolve,
      announce,
      isIdle: (payment) => pendingReference(payment) === undefined,
      publish: outbox.publish,
      onWritten,
      now,
      newId: randomUUID,
    }),
    cards: vault,
    accounts: accounts.directory,
    counters,
    connector: (name) => connectors.get(name),
    calls,
    reply: sendReply(publisher, logger),
    now,
    holdSeconds: config.AUTH_HOLD_SECONDS,
    holds: holdsOf(config),
    authenticationPatienceMs: (config.CHALLENGE_TIMEOUT_SECONDS + AUTHENTICATION_MARGIN_SECONDS) * 1000,
    recovery: frame.recovery,
    tracer,
    logger,
  };
  return {
    hotMessages: [...Object.values(cardCommands), ...Object.values(cardEvents), OperationReplied],
    beside: [cvvKeys, keyReader, calls],
    worker: {
      handlers: messageHandlers(ports),
      onDeadLetter: deadLetterHandler(ports),
      limits: { concurrency: config.CONCURRENCY },
    },
    loops: [
      createResolver(ports, RESOLVE_EVERY_MS),
      createClockFollower({ clocks, service: 'card-processing', kinds: waitingPayments(ports), now, logger }),
    ],
    readiness: () => ({ cvvKeys: keyReader.ready() }),
    internal: {
      name: 'query',
      port: config.CARD_QUERY_PORT,
      routes: [queryRoutes(ports)],
    },
  };
}
