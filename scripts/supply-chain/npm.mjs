import { execFile } from 'node:child_process';
import { root } from '../checkout.mjs';

const TIMEOUT_MS = 120_000;
const OUTPUT_MAX_BYTES = 64 * 1_048_576;

/**
 * Runs npm in this checkout.
 * @param {...string} args
 * @returns {Promise<{ stdout: string, stderr: string, exitCode: number }>} also after a failure; -1 if it did not end by
 *   itself
 */
export function npm(...args) {
  return new Promise((resolve) => {
    const options = { cwd: root, timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES };
    execFile('npm', args, options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ stdout, stderr, exitCode });
    });
  });
}
