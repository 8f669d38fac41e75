import { services } from '@gateway/contracts';
import { createGroupWatch } from '@gateway/messaging';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import { cardEventHandlers, deadLetterHandler } from './adapters/kafka/card-events';
import { askToExpire } from './adapters/kafka/commands';
import { createAskCounter, registerGauges } from './adapters/metrics';
import { createDeadlines } from './adapters/mongo/deadlines';
import { createAllowance } from './application/allowance';
import { askDue } from './application/ask-due';
import { createRoom } from './application/room';
import type { Ports } from './application/ports';
import type { Config } from './config';
import { ensureIndexes } from './indexes';

const LOOK_EVERY_MS = 250;
/** Events handled together share one write. */
const EVENTS_AT_ONCE = 128;
/** Events come in flushes. Nobody waits for them so urgently that each flush needs fetches of its own. */
const GATHER_MS = 20;

export type AuthExpiry = Service<{ ops: number }>;

export type AuthExpiryDeps = ServiceDeps<Config>;

/** Stores when each open authorization expires, and then asks card-processing for its VOID. */
export function createAuthExpiry(deps: AuthExpiryDeps): AuthExpiry {
  return createFramedService({ service: services.authExpiry, deps, open });
}

async function open(frame: Frame<Config>): Promise<Parts> {
  const { config, mongo, clock, kafka, topicPrefix, publisher, tracer, metrics, logger } = frame;
  const { now } = clock;
  const deadlines = createDeadlines(mongo, clock);
  await ensureIndexes(frame);
  registerGauges({ metrics, deadlines, now, logger });
  const queue = createGroupWatch({ kafka, ...services.authExpiry.watches, topicPrefix });
  const ports: Ports = {
    deadlines,
    askToExpire: askToExpire(publisher, tracer),
    recovering: () => frame.recovery.current() !== undefined,
    room: createRoom(() => queue.look(), now),
    asked: createAskCounter(metrics),
    now,
    random: Math.random,
    logger,
  };
  const allowance = createAllowance(config.EXPIRY_RATE_PER_SECOND, now);
  return {
    beside: [queue],
    worker: {
      handlers: cardEventHandlers(ports),
      otherTypes: 'skip',
      onDeadLetter: deadLetterHandler(logger),
      limits: { concurrency: EVENTS_AT_ONCE, gatherMs: GATHER_MS },
    },
    loops: [
      frame.repeat({ name: 'asking for due expiries', everyMs: LOOK_EVERY_MS, work: () => askDue(ports, allowance) }),
    ],
  };
}
