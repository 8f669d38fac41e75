import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutId } from './checkout.mjs';

/** What the names of the test runs of this checkout begin with, in the system's directory for temporary files. */
export const TEST_RUN_PREFIX = `payment-gateway-tests-${checkoutId}-`;

/** @returns {string} where a test run keeps its servers' data and logs; exists while the servers do */
export function newTestRunDirectory() {
  return join(tmpdir(), `${TEST_RUN_PREFIX}${randomBytes(4).toString('hex')}`);
}
