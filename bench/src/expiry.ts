import { randomBytes } from 'node:crypto';
import { startServers } from './servers';
import { compareTicks } from './expiry-ticks';
import { compareVoids } from './expiry-voids';

const OPEN = 1_000_000;
const DUE = 10_000;

/**
 * `npm run bench -- expiry [open [due]]`: what auth-expiry's look for due deadlines costs with a million authorizations
 * open, against ten thousand; then the rate at which ten thousand that fall due at once are voided, against merchants'
 * own VOIDs. Uses the servers that KAFKA_BROKERS and MONGODB_URI name, else starts some.
 */
export async function runExpiry(): Promise<void> {
  const [open = OPEN, due = DUE] = process.argv.slice(3).map(Number);
  const closers: (() => Promise<unknown> | void)[] = [];
  const onEnd = (close: () => Promise<unknown> | void): void => void closers.push(close);
  try {
    const servers = await startServers(onEnd);
    const prefix = `bench-${randomBytes(3).toString('hex')}-`;
    await compareTicks({ uri: servers.mongodbUri, prefix, open, onEnd });
    await compareVoids({ ...servers, prefix, due, onEnd });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
