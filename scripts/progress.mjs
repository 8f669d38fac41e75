/**
 * Progress lines, each with the time since the start, so that slow steps are visible while they run.
 * @typedef {{ note(line: string): void, during<T>(task: string, work: () => Promise<T>): Promise<T> }} Progress
 */

/**
 * @param {{ write(text: string): unknown }} output
 * @returns {Progress}
 */
export function createProgress(output) {
  const start = Date.now();
  const note = (/** @type {string} */ line) => {
    const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(6);
    output.write(`${seconds} s  ${line}\n`);
  };
  return {
    note,
    async during(task, work) {
      note(`${task} …`);
      const result = await work();
      note(`${task}: done`);
      return result;
    },
  };
}
