import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../failure.mjs';

/** Controlled shutdown of a broker moves its leaders; a primary waits up to 15 s for a secondary to catch up. */
const TERMINATE_TIMEOUT_MS = 45_000;
const KILL_TIMEOUT_MS = 5_000;

/** A member of a cluster. Tests can stop, freeze and restart it; it keeps its data. */
export class Member {
  #server;
  #processes;
  #held;

  /**
   * Starts it.
   * @param {import('./provide-servers.mjs').LocalServer} server
   * @param {import('../processes/child-processes.mjs').ChildProcesses} processes
   */
  constructor(server, processes) {
    this.#server = server;
    this.#processes = processes;
    this.#held = this.#launch();
  }

  get name() {
    return this.#server.name;
  }

  get port() {
    return this.#server.port;
  }

  get pid() {
    return this.#held.pid;
  }

  /** SIGKILL. Resolves when it has ended. */
  async kill() {
    this.#held.signal('SIGKILL');
    await this.#ended(KILL_TIMEOUT_MS);
  }

  /** SIGTERM. Resolves when it has ended. */
  async terminate() {
    this.#held.signal('SIGTERM');
    await this.#ended(TERMINATE_TIMEOUT_MS);
  }

  /** SIGSTOP: its connections stay open but it answers nothing. */
  freeze() {
    this.#held.signal('SIGSTOP');
  }

  /** SIGCONT. Resolves when it serves again. */
  async thaw() {
    this.#held.signal('SIGCONT');
    await this.#server.serves();
  }

  /** Starts it again. Resolves when it serves. */
  async start() {
    if (this.#held.isRunning()) throw new Failure(`${this.name} is running already.`);
    this.#held = this.#launch();
    await this.#server.serves();
  }

  #launch() {
    return this.#processes.hold('server', this.#server.name, this.#server.program);
  }

  /** @param {number} timeoutMs */
  async #ended(timeoutMs) {
    const timer = new AbortController();
    const late = delay(timeoutMs, 'late', { signal: timer.signal }).catch(() => 'aborted');
    const first = await Promise.race([this.#held.exit, late]);
    timer.abort();
    if (first === 'late') throw new Failure(`${this.name} has not ended within ${timeoutMs / 1000} s.`);
  }
}
