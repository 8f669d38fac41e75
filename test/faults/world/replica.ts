import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { freePort } from '../../support/free-port';
import { environmentWith } from '../../support/processes';
import type { Preload, Release } from './release';

const READY_TIMEOUT_MS = 90_000;
const PROBE_EVERY_MS = 400;
const PROBE_TIMEOUT_MS = 1_000;
/** Doubles with each early exit, up to the maximum. */
const RESTART_FIRST_MS = 500;
const RESTART_MAX_MS = 8_000;
const HEAP_MB = 96;
/**
 * Of each half of the space for new objects. V8 would let them grow to more than the heap may have, and then collect
 * garbage all the time, although most of it is free.
 */
const SEMI_SPACE_MB = 8;
const LIFELINE_PRELOAD = join(__dirname, '..', 'preload', 'lifeline.cjs');

/** One process of a service. It is restarted whenever it exits, as Kubernetes would do. */
export interface Replica {
  readonly service: string;
  readonly name: string;
  /** The port that others call; 0 if none. */
  readonly port: number;
  /** Its internal port. A restart keeps it. */
  readonly opsPort: number;
  /** The last result of its readiness probe. A frozen process is not ready. */
  ready(): boolean;
  kill(): void;
  terminate(): void;
  freeze(): void;
  thaw(): void;
  /** SIGTERM, without a restart until `comeBack`. Resolves when the process has exited. */
  leave(): Promise<void>;
  comeBack(): void;
  /** Restarts it with these preloads besides its release's. */
  restartWith(preloads: readonly Preload[]): Promise<void>;
  /** Replaces it by a process of this release. Resolves when that is ready. */
  restartAs(release: Release): Promise<void>;
  untilReady(): Promise<void>;
  /** Ends it permanently. */
  end(): Promise<void>;
}

export interface ReplicaOptions {
  service: string;
  index: number;
  env: Record<string, string>;
  /** The name of the setting for `port`. */
  portSetting?: string | undefined;
  port: number;
  release: Release;
  logDirectory: string;
  /** Called on an unexpected exit. */
  onDeath(name: string, how: string): void;
}

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const name = `${options.service}-${options.index}`;
  const opsPort = await freePort();
  const log = createWriteStream(join(options.logDirectory, `${name}.log`), { flags: 'a' });
  const ops = createHttpClient({ baseUrl: `http://127.0.0.1:${opsPort}`, timeoutMs: PROBE_TIMEOUT_MS });
  let { release } = options;
  let beside: readonly Preload[] = [];
  let child: ChildProcess = launch();
  let ordered = false;
  let ended = false;
  let away = false;
  let isReady = false;
  let restartDelayMs = RESTART_FIRST_MS;

  function launch(): ChildProcess {
    const env: Record<string, string> = environmentWith({ ...options.env, OPS_PORT: String(opsPort) });
    if (options.portSetting !== undefined) env[options.portSetting] = String(options.port);
    const preloads = [...release.preloads, ...beside];
    for (const preload of preloads) Object.assign(env, preload.env);
    const args = [
      `--max-old-space-size=${HEAP_MB}`,
      `--max-semi-space-size=${SEMI_SPACE_MB}`,
      '--require',
      LIFELINE_PRELOAD,
      ...preloads.flatMap(({ file }) => ['--require', file]),
      join(release.root, 'services', options.service, 'dist', 'main.js'),
    ];
    const started = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    started.stdin.on('error', () => undefined);
    started.stdout.pipe(log, { end: false });
    started.stderr.pipe(log, { end: false });
    started.once('exit', (code, signal) => onExit(code, signal));
    return started;
  }

  function onExit(code: number | null, signal: string | null): void {
    isReady = false;
    if (ended) return;
    if (!ordered) options.onDeath(name, signal ?? `exit code ${code}`);
    ordered = false;
    if (away) return;
    setTimeout(() => {
      if (!ended && !away) child = launch();
    }, restartDelayMs);
    restartDelayMs = Math.min(restartDelayMs * 2, RESTART_MAX_MS);
  }

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  async function endBy(name: NodeJS.Signals): Promise<void> {
    if (hasEnded()) return;
    const gone = once(child, 'exit');
    signal(name);
    await gone;
  }

  async function probe(): Promise<void> {
    while (!ended) {
      isReady = await ops.get('/health/ready').then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) restartDelayMs = RESTART_FIRST_MS;
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
  }

  function signal(name: NodeJS.Signals): void {
    if (name === 'SIGKILL' || name === 'SIGTERM') ordered = true;
    if (name !== 'SIGCONT') isReady = false;
    child.kill(name);
  }

  async function untilReady(): Promise<void> {
    await until(`${name} to be ready`, () => isReady, READY_TIMEOUT_MS);
  }

  void probe();
  return {
    service: options.service,
    name,
    port: options.port,
    opsPort,
    ready: () => isReady,
    kill: () => signal('SIGKILL'),
    terminate: () => signal('SIGTERM'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async leave() {
      away = true;
      await endBy('SIGTERM');
    },
    comeBack() {
      away = false;
      if (hasEnded()) child = launch();
    },
    async restartWith(next) {
      beside = next;
      await endBy('SIGTERM');
    },
    async restartAs(next) {
      release = next;
      await endBy('SIGTERM');
      await untilReady();
    },
    untilReady,
    async end() {
      ended = true;
      await endBy('SIGKILL');
      log.end();
    },
  };
}
