import { randomBytes } from 'node:crypto';
import { compareTicks } from './expiry-ticks';
import { compareVoids } from './expiry-voids';
import type { OnEnd } from './run';
import { startServers } from './servers';

const OPEN = 1_000_000;
const DUE = 10_000;

/**
 * `npm run bench -- expiry [open [due]]`: the cost of auth-expiry's search for due deadlines with a million authorizations
 * open, against ten thousand; then the rate at which ten thousand that fall due at once are voided, against merchants'
 * own VOIDs. Uses the servers that KAFKA_BROKERS and MONGODB_URI name, else starts some.
 */
export async function runExpiry(onEnd: OnEnd, [open = OPEN, due = DUE]: readonly number[]): Promise<void> {
  const servers = await startServers(onEnd);
  const prefix = `bench-${randomBytes(3).toString('hex')}-`;
  await compareTicks({ uri: servers.mongodbUri, prefix, open, onEnd });
  await compareVoids({ ...servers, prefix, due, onEnd });
}
