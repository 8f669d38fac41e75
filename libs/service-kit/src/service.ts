import type { Static, TObject } from '@sinclair/typebox';
import type { CommonConfig } from './config';
import { loadConfig } from './config';
import { ConfigurationError } from './configuration-error';
import { messageOf } from './errors';
import type { Logger } from './logger';
import { createLogger } from './logger';
import type { ProductionRule } from './production';
import { requireProfile, requireThisMachine } from './profile';
import type { Environment } from './secret-settings';

/** What every service's `app.ts` returns. */
export interface Service<Ports = unknown> {
  /** Opens everything, or closes again what was opened and throws. */
  start(): Promise<void>;
  /** Drains: finishes work in progress and takes nothing new. */
  stop(): Promise<void>;
  /** Throws while the service does not run. */
  readonly ports: Ports;
}

/** Registers what to close when the service stops, in reverse order of registration. */
export type OnStop = (close: () => Promise<unknown> | void) => void;

/** True once everything is open. Before, a service is not ready. */
export type IsStarted = () => boolean;

/** Makes a service from the function that opens it. What it registers with `onStop` also closes if it throws. */
export function createService<Ports>(open: (onStop: OnStop, isStarted: IsStarted) => Promise<Ports>): Service<Ports> {
  let closers: (() => Promise<unknown> | void)[] = [];
  let ports: Ports | undefined;

  /** Closes everything, and throws the first error at the end. */
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
        const opened = await open(
          (close) => closers.push(close),
          () => ports !== undefined,
        );
        compactHeap();
        ports = opened;
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

/**
 * Loading and opening leave garbage in most pages of the heap, and a young generation that has grown. Only this collection
 * gives both back (ADR 0057). It stops the process for about 0.1 s, so it comes before the service is ready. Services run
 * with `--expose-gc`; tests do without.
 */
function compactHeap(): void {
  void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** After a signal, a process that has not drained by then ends all the same. Whoever sends SIGKILL waits for longer. */
export const STOP_TIMEOUT_MS = 20_000;

/**
 * The `main` of a service: reads the settings from the environment and runs the service as this process. With a wrong
 * setting it exits 1 with one sentence on stderr.
 */
export function main<Schema extends TObject>(options: {
  name: string;
  settings: Schema;
  productionRules?: readonly ProductionRule<Static<Schema>>[];
  create: (deps: {
    config: Readonly<Static<Schema>>;
    env: Environment;
    logger: Logger;
    onFatal: (error: Error) => void;
  }) => Service;
}): void {
  const { env } = process;
  try {
    requireProfile(env);
    const config = loadConfig(options.settings, env, options.productionRules);
    requireThisMachine(options.settings.properties, config);
    const { LOG_LEVEL: level } = config as unknown as Pick<CommonConfig, 'LOG_LEVEL'>;
    const logger = createLogger({ service: options.name, level });
    void runService((onFatal) => options.create({ config, env, logger, onFatal }), logger);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Runs a service as this process: starts it, drains it on SIGTERM or SIGINT, and exits 1 on a fatal fault (the service
 * calls `onFatal`, an unhandled rejection, a failed start, a stop that hangs).
 *
 * @param create makes the service. Its `onFatal` never throws: the caller's `catch` might swallow it.
 */
export async function runService(create: (onFatal: (error: Error) => void) => Service, logger: Logger): Promise<void> {
  let stopping = false;
  const service = create((error) => {
    logger.error('the service cannot continue', { error });
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
    // A wrong setting takes one sentence, without a stack.
    logger.error('start failed', error instanceof ConfigurationError ? { reason: error.message } : { error });
    stop('start failed', 1);
  }
}
