import type { Logger, Registry } from '@gateway/service-kit';
import { Gauge, repeat } from '@gateway/service-kit';
import type { Clock, ServerTime } from './clock';
import { createMeasuredClock } from './clock';
import type { MongoConnection } from './connection';

export interface DatabaseClock extends Clock {
  /** False while the machine's clock is further off the database's than `maxSkewMs`. */
  ready(): boolean;
  stop(): Promise<void>;
}

/** What tests put in place of the machine's time. */
export interface TimeSources {
  /** What the machine's clock shows, in epoch ms. It is corrected as a real one is. */
  wallClock?: () => number;
  /** The time itself, in epoch ms, for tests that travel: nothing corrects it. */
  now?: () => number;
}

const MEASURE_EVERY_MS = 5_000;
const FIRST_SAMPLES = 4;
/** The server cuts its time off to whole milliseconds. */
const CUT_OFF_MS = 0.5;

/**
 * The clock of a service: that of the primary, whatever the machine's own says. Resolves when it is set.
 *
 * Through a router (mongos) it is the router's clock, as is the `$$NOW` of commands that go through it.
 */
export async function startDatabaseClock(options: {
  mongo: Pick<MongoConnection, 'mongoose'>;
  maxSkewMs: number;
  sources?: TimeSources;
  metrics: Registry;
  logger: Logger;
}): Promise<DatabaseClock> {
  const { mongo, maxSkewMs, sources = {}, logger } = options;
  let asking: Promise<void> | undefined;
  const clock = createMeasuredClock({
    ask: () => askServer(mongo),
    ...(sources.wallClock === undefined ? {} : { wallClock: sources.wallClock }),
    onJump: () => {
      asking ??= clock
        .measure()
        .catch((error: unknown) => logger.warn('the time could not be asked for', { error }))
        .finally(() => (asking = undefined));
    },
  });
  for (let count = 0; count < FIRST_SAMPLES; count += 1) await clock.measure();
  const ready = (): boolean => Math.abs(clock.skewMs()) <= maxSkewMs;
  if (!ready()) logger.error('the clock of this machine is off', { skewMs: clock.skewMs(), maxSkewMs });
  const measuring = repeat({
    name: 'asking for the time',
    everyMs: MEASURE_EVERY_MS,
    work: () => clock.measure(),
    logger,
  });
  measuring.start();
  new Gauge({
    name: 'gateway_clock_skew_seconds',
    help: "How far this machine's clock is ahead of the database's",
    registers: [options.metrics],
    collect() {
      this.set(clock.skewMs() / 1_000);
    },
  });
  const { now } = sources;
  return {
    now: now ?? (() => clock.now()),
    inDatabase: now ?? (() => ({ $toLong: '$$NOW' })),
    ready,
    async stop() {
      await measuring.stop();
      await asking;
    },
  };
}

async function askServer({ mongoose }: Pick<MongoConnection, 'mongoose'>): Promise<ServerTime> {
  const answer = await mongoose.getClient().db('admin').command({ hello: 1 });
  return { server: String(answer['me'] ?? ''), ms: (answer['localTime'] as Date).getTime() + CUT_OFF_MS };
}
