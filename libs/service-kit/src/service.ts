import type { Logger } from './logger';

/** What every service's `app.ts` returns. `stop` drains: it finishes what runs and takes nothing new. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 20_000;

/**
 * Runs a service as this process: starts it, drains it on SIGTERM or SIGINT, exits 1 on a fault of the whole process
 * (an unhandled rejection, a start that fails, a stop that hangs).
 */
export async function runService(service: Service, logger: Logger): Promise<void> {
  let stopping = false;
  const stop = (reason: string, exitCode: number): void => {
    if (stopping) return;
    stopping = true;
    logger.info('stopping', { reason });
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
    service.stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        logger.error('stop failed', { error });
        process.exit(1);
      },
    );
  };
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
    logger.error('start failed', { error });
    stop('start failed', 1);
  }
}
