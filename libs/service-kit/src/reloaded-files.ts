import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { ConfigurationError } from './configuration-error';
import { messageOf } from './errors';
import type { Logger } from './logger';
import { repeat } from './repeat';

const LOOK_EVERY_MS = 1_000;

/** The content of files that operators may replace while the service runs. */
export interface ReloadedFiles<T> {
  /** From the last files that could be used. */
  readonly current: T;
  /** Calls the listener with each new value. */
  onChange(listener: (value: T) => void): void;
  /** Starts to look for changes. */
  start(): void;
  stop(): Promise<void>;
}

export interface ReloadedFilesOptions<T> {
  /** Names the files in errors, logs and metrics, such as `callers`. */
  name: string;
  /** Files that belong together, such as a certificate and its key. */
  paths: readonly string[];
  /** @throws Error with one sentence if the files cannot be used. It must not repeat their content. */
  parse: (contents: readonly Buffer[]) => T;
  logger: Logger;
  metrics: Registry;
  /** Default: a second. */
  lookEveryMs?: number;
}

/**
 * Reads files now, and again when they change. Changed files that cannot be used are logged once, and the old value
 * stays. A change counts when two looks in a row see the same content, so that half-written files are not tried. Content
 * is compared, not times: links are followed, and a changed time alone reloads nothing.
 *
 * @throws ConfigurationError if the files cannot be used now
 */
export function openReloadedFiles<T>(options: ReloadedFilesOptions<T>): ReloadedFiles<T> {
  const { name, paths, parse, logger } = options;
  const listeners: ((value: T) => void)[] = [];
  const failed = failedReloads(options.metrics);
  let { value: current, fingerprint: tried } = readNow(options);
  let seen = tried;
  failed.set({ files: name }, 0);

  function take({ contents, fault }: Reading): void {
    try {
      if (contents === undefined) throw fault;
      current = parse(contents);
      for (const listener of listeners) listener(current);
      failed.set({ files: name }, 0);
      logger.info('files were reloaded', { files: name, paths });
    } catch (error) {
      failed.set({ files: name }, 1);
      logger.error('changed files cannot be used, the old ones stay in use', {
        files: name,
        paths,
        reason: messageOf(error),
      });
    }
  }

  async function look(): Promise<void> {
    const reading = await read(paths);
    const { fingerprint } = reading;
    const isSettled = fingerprint === seen;
    seen = fingerprint;
    if (!isSettled || fingerprint === tried) return;
    tried = fingerprint;
    take(reading);
  }

  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    ...repeat({
      name: `looking for changes of ${name}`,
      everyMs: options.lookEveryMs ?? LOOK_EVERY_MS,
      work: look,
      logger,
    }),
  };
}

/** One look at the files. Without contents, `fault` says why. */
interface Reading {
  contents?: readonly Buffer[];
  fault?: unknown;
  fingerprint: string;
}

async function read(paths: readonly string[]): Promise<Reading> {
  try {
    const contents = await Promise.all(paths.map((path) => readFile(path)));
    return { contents, fingerprint: fingerprintOf(contents) };
  } catch (fault) {
    return { fault, fingerprint: messageOf(fault) };
  }
}

function readNow<T>({ name, paths, parse }: ReloadedFilesOptions<T>): { value: T; fingerprint: string } {
  try {
    const contents = paths.map((path) => readFileSync(path));
    return { value: parse(contents), fingerprint: fingerprintOf(contents) };
  } catch (error) {
    throw new ConfigurationError(`Configuration: ${name} in ${paths.join(' and ')}: ${messageOf(error)}.`);
  }
}

function fingerprintOf(contents: readonly Buffer[]): string {
  return contents.map((content) => createHash('sha256').update(content).digest('hex')).join();
}

const FAILED_RELOADS = 'gateway_reload_failed';

/** All files of a registry share the gauge. */
function failedReloads(registry: Registry): Gauge<'files'> {
  const registered = registry.getSingleMetric(FAILED_RELOADS) as Gauge<'files'> | undefined;
  return (
    registered ??
    new Gauge({
      name: FAILED_RELOADS,
      help: '1 while changed files cannot be used and the old ones stay in use',
      labelNames: ['files'],
      registers: [registry],
    })
  );
}
