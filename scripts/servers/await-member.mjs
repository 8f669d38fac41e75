/** Waits until the server at MONGODB_URI is primary or secondary of its replica set. The caller bounds the time. */
import { setTimeout as delay } from 'node:timers/promises';
import { withAdmin } from './mongodb-driver.mjs';

const POLL_INTERVAL_MS = 50;
const CONNECT_TIMEOUT_MS = 1_000;

const options = { directConnection: true, serverSelectionTimeoutMS: CONNECT_TIMEOUT_MS };

async function serves() {
  try {
    const { isWritablePrimary, secondary } = await withAdmin(process.env.MONGODB_URI ?? '', options, (admin) =>
      admin.command({ hello: 1 }),
    );
    return isWritablePrimary || secondary;
  } catch {
    // Not up yet.
    return false;
  }
}

while (!(await serves())) await delay(POLL_INTERVAL_MS);
