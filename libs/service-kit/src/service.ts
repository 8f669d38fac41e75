import { ConfigurationError } from './config';
import type { Logger } from './logger';

/** What every service's `app.ts` returns. `stop` drains: it finishes what runs and takes nothing new. */
export interface Service<Ports = unknown> {
  /** Opens everything, or closes again what was opened and throws. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Where it listens. Throws while it does not run. */
  readonly ports: Ports;
}

/** Has something closed when the service stops: what was opened last closes first. */
export type OnStop = (close: () => Promise<unknown> | void) => void;

/** True from the moment that everything is open: before, a service is not ready. */
export type IsStarted = () => boolean;

/** A service from the function that opens it. Whatever opens registers its own end, so a start that fails leaves nothing. */
export function createService<Ports>(open: (onStop: OnStop, isStarted: IsStarted) => Promise<Ports>): Service<Ports> {
  let closers: (() => Promise<unknown> | void)[] = [];
  let ports: Ports | undefined;

  /** One that fails keeps no other from closing; what it threw is thrown at the end. */
  async function stop(): Promise<void> {
    ports = undefined;
    const failures: unknown[] = [];
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      await Promise.resolve(close()).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    async start() {
      closers = [];
      try {
        ports = await open(
          (close) => closers.push(close),
          () => ports !== undefined,
        );
      } catch (error) {
        await stop().catch(() => undefined);
        throw error;
      }
    },
    stop,
    get ports() {
      if (ports === undefined) throw new Error('the service is not running');
      return ports;
    },
  };
}

const STOP_TIMEOUT_MS = 20_000;

/**
 * Runs a service as this process: starts it, drains it on SIGTERM or SIGINT, and exits 1 on a fatal fault (the service
 * calls `onFatal`, an unhandled rejection, a failed start, a stop that hangs).
 *
 * @param create makes the service. Its `onFatal` never throws: the caller's `catch` might swallow it.
 */
export async function runService(create: (onFatal: (error: Error) => void) => Service, logger: Logger): Promise<void> {
  let stopping = false;
  const service = create((error) => {
    logger.error('the service cannot go on', { error });
    stop('a fault', 1);
  });
  function stop(reason: string, exitCode: number): void {
    if (stopping) return;
    stopping = true;
    logger.info('stopping', { reason });
    const giveUp = setTimeout(() => process.exit(1), STOP_TIMEOUT_MS);
    void service
      .stop()
      .then(
        () => exitCode,
        (error: unknown) => {
          logger.error('stop failed', { error });
          return 1;
        },
      )
      .then((code) => {
        clearTimeout(giveUp);
        process.exit(code);
      });
  }
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGINT', () => stop('SIGINT', 0));
  process.on('unhandledRejection', (error) => {
    logger.error('unhandled rejection', { error });
    stop('unhandled rejection', 1);
  });
  process.on('uncaughtException', (error) => {
    logger.error('uncaught exception', { error });
    stop('uncaught exception', 1);
  });
  try {
    await service.start();
    logger.info('ready');
  } catch (error) {
    // What a setting says wrong is said in one sentence; where it was found helps nobody.
    logger.error('start failed', error instanceof ConfigurationError ? { reason: error.message } : { error });
    stop('start failed', 1);
  }
}
