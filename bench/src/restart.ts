import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isReady, opsUrl, SERVICES, stateDirectory } from './gateway';

const POLL_MS = 5;
const START_TIMEOUT_MS = 60_000;

/** A process that `npm start` runs. */
export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly role: 'service' | 'server' | 'task';
}

export function running(): Running[] {
  const records = JSON.parse(readFileSync(join(stateDirectory, 'processes.json'), 'utf8')) as Running[];
  return records.filter(({ role }) => role !== 'task');
}

/** Ends a service and waits until the process that replaces it is ready. Returns the id of that process. */
export async function restart(name: string): Promise<number> {
  const pidOf = (): number | undefined => running().find((one) => one.name === name)?.pid;
  const before = pidOf();
  if (before === undefined) throw new Error(`${name} does not run`);
  process.kill(before, 'SIGTERM');
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    await pause(POLL_MS);
    const pid = pidOf();
    if (pid !== undefined && pid !== before && (await isReady(opsUrl(SERVICES.indexOf(name))))) return pid;
    if (performance.now() > giveUpAt) throw new Error(`${name} has not become ready`);
  }
}
