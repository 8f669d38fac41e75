import type { Logger, Registry } from '@gateway/service-kit';
import { Gauge, repeat } from '@gateway/service-kit';
import type { Clock, ServerTime } from './clock';
import { createMeasuredClock } from './clock';
import type { MongoConnection } from './connection';

export interface DatabaseClock extends Clock {
  /** False while the machine's and the database's clock differ by more than `maxSkewMs`. */
  ready(): boolean;
  stop(): Promise<void>;
}

/** Replacements of the machine's time, for tests. */
export interface TimeSources {
  /** The machine's clock, in epoch ms. It is corrected like a real one. */
  wallClock?: () => number;
  /** The final time, in epoch ms, without correction: for tests that travel in time. */
  now?: () => number;
}

const MEASURE_EVERY_MS = 5_000;
const FIRST_SAMPLES = 4;
/** The server truncates its time to whole milliseconds. */
const TRUNCATION_MS = 0.5;

/**
 * The clock of a service, which follows the primary's. Resolves after the first samples.
 *
 * Behind a router (mongos) it follows the router's clock, and so does `$$NOW`.
 */
export async function startDatabaseClock(options: {
  mongo: Pick<MongoConnection, 'client'>;
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
        .catch((error: unknown) => logger.warn('the database clock could not be read', { error }))
        .finally(() => (asking = undefined));
    },
  });
  for (let count = 0; count < FIRST_SAMPLES; count += 1) await clock.measure();
  const ready = (): boolean => Math.abs(clock.skewMs()) <= maxSkewMs;
  if (!ready()) logger.error("this machine's clock is wrong", { skewMs: clock.skewMs(), maxSkewMs });
  const measuring = repeat({
    name: 'database clock',
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

/** Epoch ms by the primary's clock, for command lines: they need it too rarely to follow it. */
export async function databaseTime(mongo: Pick<MongoConnection, 'client'>): Promise<number> {
  return Math.floor((await askServer(mongo)).ms);
}

async function askServer({ client }: Pick<MongoConnection, 'client'>): Promise<ServerTime> {
  const answer = await client.db('admin').command({ hello: 1 });
  return { server: String(answer['me'] ?? ''), ms: (answer['localTime'] as Date).getTime() + TRUNCATION_MS };
}
