/**
 * Decides when to restart a process that has exited, and when to give up.
 * @typedef {object} RestartLimits
 * @property {number} firstDelayMs doubles with each death
 * @property {number} maxDelayMs
 * @property {number} healthyAfterMs a process that ran for this long starts again with the first delay
 * @property {number} maxDeaths within `deathsWithinMs`: the process cannot run
 * @property {number} deathsWithinMs
 */

/** @type {RestartLimits} */
export const RESTART_LIMITS = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  healthyAfterMs: 60_000,
  maxDeaths: 5,
  deathsWithinMs: 60_000,
};

export class Restarts {
  #limits;
  #delayMs;
  /** @type {number[]} */
  #deathsAtMs = [];

  /** @param {RestartLimits} limits */
  constructor(limits) {
    this.#limits = limits;
    this.#delayMs = limits.firstDelayMs;
  }

  /**
   * @param {{ ranForMs: number, atMs: number }} death `atMs`: on a clock that never jumps
   * @returns {number | undefined} the pause before the next start in ms; undefined when the process keeps dying
   */
  afterDeath({ ranForMs, atMs }) {
    const { firstDelayMs, maxDelayMs, healthyAfterMs, maxDeaths, deathsWithinMs } = this.#limits;
    this.#deathsAtMs = [...this.#deathsAtMs.filter((earlier) => atMs - earlier < deathsWithinMs), atMs];
    if (this.#deathsAtMs.length >= maxDeaths) return undefined;
    if (ranForMs >= healthyAfterMs) this.#delayMs = firstDelayMs;
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(2 * delayMs, maxDelayMs);
    return delayMs;
  }
}
