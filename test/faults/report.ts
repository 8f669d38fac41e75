import type { RunResult } from './run';
import { seconds } from './run';

/** What merchants sent and were told, in numbers. */
export function reportOutcomes({ evidence, notebook, startMs, quietMs }: RunResult): string {
  const outcomes = new Map<string, number>();
  for (const { type, attempts } of evidence.operations) {
    const last = attempts.at(-1);
    const how = last?.lost === undefined ? `${last?.httpStatus} ${last?.status} ${last?.code}` : 'no answer';
    const kind = `${type.padEnd(9)} ${how}`;
    outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
  }
  const attempts = evidence.operations.reduce((sum, operation) => sum + operation.attempts.length, 0);
  return [
    `${evidence.operations.length} operations in ${attempts} requests, ${notebook.approvals.length} card approvals, ` +
      `${evidence.callbacks.length} callbacks, ${evidence.messages.length} messages, ` +
      `${evidence.bank.length} entries in the banks' books; start ${seconds(startMs)}, quiet after ${seconds(quietMs)}`,
    ...table(outcomes),
    ...table(notebook.troubles),
  ].join('\n');
}

function table(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([what, count]) => `  ${String(count).padStart(6)}  ${what}`);
}
