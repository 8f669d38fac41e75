import type { AttackOrder } from './neighbours-attacks';
import { attacks } from './neighbours-attacks';

/**
 * Runs one attack in a separate process. It reports when the attack is at full strength, and its answers when it ends: on
 * `stop` or when its time is up.
 */
const LONGEST_MS = 180_000;

let stopped = false;
const counts: Record<string, number> = {};

process.once('message', (order: AttackOrder) => void run(order));
process.on('disconnect', () => process.exit(0));

async function run(order: AttackOrder): Promise<void> {
  process.once('message', () => (stopped = true));
  setTimeout(() => (stopped = true), LONGEST_MS).unref();
  let told = false;
  await attacks[order.attack](order, {
    ready() {
      if (!told) process.send?.('ready');
      told = true;
    },
    isStopped: () => stopped,
    count: (kind) => void (counts[kind] = (counts[kind] ?? 0) + 1),
  });
  process.send?.(counts);
}
