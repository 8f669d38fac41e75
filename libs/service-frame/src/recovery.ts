import type { PartitionOffset, ProgressKeeper } from '@gateway/messaging';
import type { Clock, LostRange, MongoConnection, Recovery, StoredProgress } from '@gateway/mongo';
import { DatabaseReplacedError, openProgress } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import { Gauge, repeat } from '@gateway/service-kit';
import { comparePositions } from './compare-positions';

/** Half of how long a service may go on after an operator has ended the recovery. */
const LOOK_EVERY_MS = 1_000;
/** A write waits for the journal of a majority, a look costs little. No copy is put back so soon after it was made. */
const BEAT_EVERY_MS = 10_000;

/** Whether the service's database was restored, and an operator has not ended the recovery yet (ADR 0088). */
export interface RecoveryMode {
  /** Undefined in an ordinary service. Up to two seconds old. */
  current(): Recovery | undefined;
  /**
   * True for a command from before the notice: it may have been carried out, and its record lost. Its time counts and not
   * its place in the topic, because the sweeper of the edge sends open commands again.
   *
   * @param acceptedAt epoch ms
   */
  mayHaveBeenHandled(acceptedAt: number): boolean;
  /** Begins a recovery for what the service itself has found. */
  notice(ranges: readonly LostRange[]): Promise<void>;
}

export interface RecoveryWatch extends RecoveryMode, ProgressKeeper {
  start(): void;
  stop(): Promise<void>;
}

/** Keeps how far the service has got in its database, and compares that with Kafka at the start. */
export async function openRecovery(options: {
  mongo: MongoConnection;
  clock: Clock;
  onFatal: (error: Error) => void;
  metrics: Registry;
  logger: Logger;
}): Promise<RecoveryWatch> {
  const { mongo, clock, onFatal, metrics, logger } = options;
  const store = await openProgress(mongo, clock);
  let latest = await store.read();
  let latestAtMs = performance.now();
  let savedAtMs = -Infinity;
  /** The last use of this database before this process. */
  const databaseAt = latest.at;

  async function follow(work: Promise<StoredProgress>): Promise<void> {
    try {
      const found = await work;
      // A look that was sent before a notice may be answered after it.
      if (found.beat >= latest.beat) latest = found;
      latestAtMs = performance.now();
    } catch (error) {
      if (error instanceof DatabaseReplacedError) onFatal(error);
      throw error;
    }
  }

  async function save(offsets: readonly PartitionOffset[]): Promise<void> {
    await follow(store.save(offsets));
    savedAtMs = performance.now();
  }

  /** Under load each commit has just looked. */
  async function look(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - latestAtMs < LOOK_EVERY_MS) return;
    await (nowMs - savedAtMs < BEAT_EVERY_MS ? follow(store.look()) : save([]));
  }

  async function notice(ranges: readonly LostRange[]): Promise<void> {
    await follow(store.notice({ noticedAt: clock.now(), databaseAt, ranges }));
    logger.error('the database and Kafka do not fit: recovery begins, and an operator has to end it', { ranges });
  }

  const looking = repeat({ name: 'recovery watch', everyMs: LOOK_EVERY_MS, work: look, logger });
  new Gauge({
    name: 'gateway_recovery',
    help: '1 from when the database and Kafka did not fit until an operator ends the recovery',
    registers: [metrics],
    collect() {
      this.set(latest.recovery === undefined ? 0 : 1);
    },
  });

  return {
    start: () => looking.start(),
    stop: () => looking.stop(),
    current: () => latest.recovery,
    mayHaveBeenHandled: (acceptedAt) => acceptedAt < (latest.recovery?.noticedAt ?? 0),
    notice,
    async compare(positions): Promise<readonly PartitionOffset[]> {
      // After the brokers' answer: another replica saves offsets before it commits them.
      await save([]);
      const { ranges, starts } = comparePositions(positions, latest.offsets);
      if (ranges.length > 0) await notice(ranges);
      return starts;
    },
    save,
  };
}
