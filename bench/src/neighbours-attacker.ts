import type { AttackOrder } from './neighbours-attacks';
import { attacks } from './neighbours-attacks';

/**
 * One attack, in a process of its own. It says when it is at its height, and when it has stopped what it was answered:
 * `stop` ends it, and so does its time.
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
