import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '../checkout.mjs';
import { explain, Failure } from '../failure.mjs';
import { ended, identify, isRunning, signalGroup } from './identity.mjs';
import { RESTART_LIMITS, Restarts } from './restarts.mjs';

/**
 * A `task` runs to its end, a `server` or a `service` runs until it is stopped. Services stop before servers, because
 * they still need them while they drain. `container` is the Docker container that the process holds.
 * @typedef {{ command: string, args: string[], env?: NodeJS.ProcessEnv, cwd?: string, container?: string }} Program
 * @typedef {'task' | 'server' | 'service'} Role
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, error?: Error }} Exit
 * @typedef {import('./identity.mjs').ProcessIdentity & { role: Role, container?: string }} ProcessRecord
 * @typedef {{ pid: number | undefined, logFile: string, exit: Promise<Exit>, isRunning(): boolean, signal(signal: NodeJS.Signals): void }} Held
 * @typedef {{ child: import('node:child_process').ChildProcess, exit: Promise<Exit>, record: ProcessRecord | undefined }} Running
 */

const GRACE_MS = { task: 3_000, service: 20_000, server: 10_000 };
const KILL_TIMEOUT_MS = 5_000;
const DOCKER_TIMEOUT_MS = 30_000;
const LOG_TAIL_LINES = 15;
const LOG_TAIL_BYTES = 8_192;

/**
 * Every process that this run has started. Each leads a process group of its own: Ctrl-C at the terminal reaches only
 * the run, which then stops them in order, and whatever they have started goes with them. They are recorded in a
 * file too, so that the next run finds what a killed one has left behind.
 */
export class ChildProcesses {
  /** @type {Set<Running>} */
  #running = new Set();
  /**
   * By name.
   * @type {Map<string, string>}
   */
  #logs = new Map();
  /** Aborted when everything is being stopped. */
  #stop = new AbortController();
  #recordFile;
  #logDirectory;
  #onFailure;

  /**
   * @param {{ recordFile: string, logDirectory: string, onFailure: (failure: Failure) => void }} options `onFailure`
   *   hears of servers and services that end without having been asked to
   */
  constructor({ recordFile, logDirectory, onFailure }) {
    this.#recordFile = recordFile;
    this.#logDirectory = logDirectory;
    this.#onFailure = onFailure;
    mkdirSync(logDirectory, { recursive: true });
  }

  /**
   * Starts a process that runs until it is stopped; its output goes to `<name>.log`. Its end fails the run.
   * @param {'server' | 'service'} role
   * @param {string} name
   * @param {Program} program
   */
  launch(role, name, program) {
    const { logFile, exit } = this.hold(role, name, program);
    void exit.then((how) => {
      if (this.#stopping) return;
      this.#onFailure(new Failure(`${name} exited unexpectedly (${describeExit(how)}). ${logTail(logFile)}`));
    });
  }

  /**
   * Starts a process that runs until it is stopped, and restarts it whenever it exits. The run fails if it keeps dying.
   * @param {'server' | 'service'} role
   * @param {string} name
   * @param {Program} program
   * @param {{ note: (line: string) => void, serves?: () => Promise<void>, limits?: import('./restarts.mjs').RestartLimits }} options
   *   `note` reports each death, and after a restart that the process serves again; `serves` waits for that
   */
  keep(role, name, program, { note, serves, limits = RESTART_LIMITS }) {
    const restarts = new Restarts(limits);
    /** @returns {Held} */
    const start = () => {
      const startedAtMs = performance.now();
      const held = this.hold(role, name, program);
      const { logFile, exit } = held;
      void exit.then(async (how) => {
        if (this.#stopping) return;
        const atMs = performance.now();
        const delayMs = restarts.afterDeath({ ranForMs: atMs - startedAtMs, atMs });
        if (delayMs === undefined) {
          const often = `${limits.maxDeaths} times within ${limits.deathsWithinMs / 1000} s`;
          this.#onFailure(new Failure(`${name} keeps dying, ${often} (${describeExit(how)}). ${logTail(logFile)}`));
          return;
        }
        note(`${name} has died (${describeExit(how)}), restart in ${delayMs / 1000} s: see ${shownPath(logFile)}`);
        await delay(delayMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
        if (this.#stopping) return;
        const restarted = start();
        // Nothing if it has died again, which is reported separately.
        const tell = (/** @type {string} */ line) => {
          if (!this.#stopping && restarted.isRunning()) note(line);
        };
        serves?.().then(
          () => tell(`${name} is ready again`),
          (error) => tell(explain(error)),
        );
      });
      return held;
    };
    start();
  }

  /**
   * Starts a process that runs until it is stopped. The caller may also end it: its exit does not fail the run. Its output
   * goes to `<name>.log`, and a restart appends to it.
   * @param {'server' | 'service'} role
   * @param {string} name
   * @param {Program} program
   * @returns {Held}
   */
  hold(role, name, program) {
    const logFile = this.#logs.get(name) ?? this.#newLog(name);
    this.#logs.set(name, logFile);
    const { exit, record } = this.#start(role, name, program, logFile);
    const running = () => record !== undefined && isRunning(record);
    return {
      pid: record?.pid,
      logFile,
      exit,
      isRunning: running,
      signal(signal) {
        if (record !== undefined && running()) signalGroup(record.pid, signal);
      },
    };
  }

  /**
   * Runs a program to its end; its output goes to `<name>.log`. Throws {@link Failure} with the end of that log unless
   * it succeeds in time.
   * @param {string} name
   * @param {Program & { timeoutMs: number }} program
   */
  async run(name, program) {
    const logFile = this.#newLog(name);
    const running = this.#start('task', name, program, logFile);
    const exit = await this.#exitWithin(running, program.timeoutMs);
    if (exit === undefined) {
      throw new Failure(`${name} has not ended within ${program.timeoutMs / 1000} s. ${logTail(logFile)}`);
    }
    if (exit.code !== 0) throw new Failure(`${name} has failed (${describeExit(exit)}). ${logTail(logFile)}`);
  }

  /**
   * Runs a program without a log.
   * @param {string} command
   * @param {string[]} args
   * @param {number} timeoutMs
   * @returns {Promise<string | undefined>} what it printed, or undefined when it is missing, fails or takes too long
   */
  async ask(command, args, timeoutMs) {
    const running = this.#start('task', command, { command, args }, undefined);
    let output = '';
    running.child.stdout?.on('data', (chunk) => (output += chunk));
    running.child.stderr?.on('data', (chunk) => (output += chunk));
    const exit = await this.#exitWithin(running, timeoutMs);
    return exit?.code === 0 ? output : undefined;
  }

  /**
   * Stops everything: first tasks and services, then the servers they use. Afterwards nothing can be started.
   * @param {{ graceMs?: number }} [options] how long a process may take before it is killed
   */
  async stop({ graceMs } = {}) {
    this.#stop.abort();
    await endInOrder(this.#records(), graceMs);
    await Promise.all([...this.#running].map(({ exit }) => exit));
    rmSync(this.#recordFile, { force: true });
  }

  /**
   * @param {Role} role
   * @param {string} name
   * @param {Program} program
   * @param {string | undefined} logFile pipes when there is none
   * @returns {Running}
   */
  #start(role, name, { command, args, env, cwd = root, container }, logFile) {
    if (this.#stopping) throw new Failure(`${name} was not started, because everything is being stopped.`);
    const output = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    if (typeof output === 'number') closeSync(output);
    /** @type {Promise<Exit>} */
    const exit = new Promise((resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, error }));
      child.once(logFile === undefined ? 'close' : 'exit', (code, signal) => resolve({ code, signal }));
    });
    const record =
      child.pid === undefined ? undefined : { ...identify(name, child.pid), role, ...(container && { container }) };
    const running = { child, exit, record };
    this.#running.add(running);
    this.#writeRecords();
    void exit.then(() => {
      // A container may outlive the process that holds it, and stays recorded.
      if (container === undefined) this.#running.delete(running);
      if (!this.#stopping) this.#writeRecords();
    });
    return running;
  }

  /**
   * @param {Running} running
   * @param {number} timeoutMs after which it is terminated
   * @returns {Promise<Exit | undefined>} undefined when it took too long
   */
  async #exitWithin(running, timeoutMs) {
    const timer = new AbortController();
    const timeout = delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
    const exit = await Promise.race([running.exit, timeout]);
    timer.abort();
    if (exit === undefined && running.record !== undefined) await endGroup(running.record);
    return exit;
  }

  get #stopping() {
    return this.#stop.signal.aborted;
  }

  #records() {
    return [...this.#running].flatMap(({ record }) => (record === undefined ? [] : [record]));
  }

  #writeRecords() {
    // Renamed into place: a run that is killed during the write leaves the previous records.
    const draft = `${this.#recordFile}.draft`;
    writeFileSync(draft, JSON.stringify(this.#records()));
    renameSync(draft, this.#recordFile);
  }

  /** @param {string} name */
  #newLog(name) {
    const logFile = join(this.#logDirectory, `${name}.log`);
    if (existsSync(logFile)) renameSync(logFile, join(this.#logDirectory, `${name}.previous.log`));
    return logFile;
  }
}

/**
 * Stops the processes that a killed run left behind.
 * @param {string} recordFile
 * @returns {Promise<string[]>} the names of what was still running
 */
export async function stopLeftovers(recordFile) {
  if (!existsSync(recordFile)) return [];
  /** @type {ProcessRecord[]} */
  const records = JSON.parse(readFileSync(recordFile, 'utf8'));
  const leftovers = records.filter(isRunning);
  await endInOrder(records);
  rmSync(recordFile);
  return leftovers.map(({ name }) => name);
}

/**
 * @param {ProcessRecord[]} records
 * @param {number} [graceMs]
 */
async function endInOrder(records, graceMs) {
  const isServer = (/** @type {ProcessRecord} */ { role }) => role === 'server';
  for (const stage of [records.filter((record) => !isServer(record)), records.filter(isServer)]) {
    await Promise.all(stage.map((record) => endGroup(record, graceMs)));
  }
}

/**
 * Ends a process, all that it has started, and its container.
 * @param {ProcessRecord} record
 * @param {number} [graceMs] between asking and killing
 */
async function endGroup(record, graceMs = GRACE_MS[record.role]) {
  if (isRunning(record)) {
    signalGroup(record.pid, 'SIGTERM');
    await ended(record, graceMs);
    // Also the leader's children: a group's id is not reused while the group has a member.
    signalGroup(record.pid, 'SIGKILL');
    await ended(record, KILL_TIMEOUT_MS);
  }
  removeContainer(record);
}

/**
 * A `docker run` that could not end its container itself (killed, or stopped before it was running) leaves it behind.
 * @param {ProcessRecord} record
 */
function removeContainer({ container }) {
  if (container === undefined) return;
  try {
    execFileSync('docker', ['rm', '--force', '--volumes', container], { stdio: 'ignore', timeout: DOCKER_TIMEOUT_MS });
  } catch {
    // There is no such container, or no daemon and therefore no container.
  }
}

/** @param {Exit} exit */
function describeExit({ code, signal, error }) {
  if (error !== undefined) return error.message;
  return signal === null ? `exit code ${code}` : signal;
}

/** @param {string} logFile */
function logTail(logFile) {
  const lines = lastBytes(logFile, LOG_TAIL_BYTES).trimEnd().split('\n').slice(-LOG_TAIL_LINES);
  return `The end of ${shownPath(logFile)}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** @param {string} file */
function shownPath(file) {
  const path = relative(root, file);
  return path.startsWith('..') ? file : path;
}

/**
 * @param {string} file
 * @param {number} count
 */
function lastBytes(file, count) {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(count);
    const start = Math.max(0, fstatSync(descriptor).size - count);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, count, start));
  } finally {
    closeSync(descriptor);
  }
}
