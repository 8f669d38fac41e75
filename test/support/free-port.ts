import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral range, so that no connection takes the port before its owner listens. */
const LOWEST = 20_000;
/** So many workers of jest have ports of their own, so that none takes another's. */
const SHARES = 4;
const SHARE = 3_000;
const ATTEMPTS = 100;

const given = new Set<number>();

/** A port that is free right now, for addresses that must be known before their owner starts. */
export async function freePort(): Promise<number> {
  const first = LOWEST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * SHARE;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = first + randomInt(SHARE);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port among ${ATTEMPTS}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
