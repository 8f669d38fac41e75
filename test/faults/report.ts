import type { Happened } from './injection/inject';
import type { PlannedFault } from './injection/schedule';
import { describeFault } from './injection/schedule';
import type { RunResult } from './run';
import { seconds } from './run';

export function reportSchedule(planned: readonly PlannedFault[]): string {
  const lines = planned.map((fault) => {
    const lasting = fault.durationMs === 0 ? '' : ` for ${seconds(fault.durationMs)}`;
    return `  ${seconds(fault.atMs).padStart(9)}  ${describeFault(fault)}${lasting}`;
  });
  return ['Schedule', ...lines].join('\n');
}

/** The merchants' requests and answers, in numbers. */
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
    'Last answers, and how often',
    ...table(outcomes),
    ...table(notebook.troubles),
  ].join('\n');
}

function table(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([what, count]) => `  ${String(count).padStart(6)}  ${what}`);
}

/** A gap this long after a fault counts for it, unless the next fault begins before. */
const AFTERMATH_MS = 15_000;

/**
 * The longest time without an approved card operation that overlaps a fault or its aftermath. If nothing is approved
 * afterwards, it counts up to the end of the aftermath.
 *
 * @param approvals epoch ms, ascending
 */
export function recoveryMs(
  happened: Pick<Happened, 'startedAt' | 'endedAt'>,
  next: Pick<Happened, 'startedAt'> | undefined,
  approved: readonly number[],
): number {
  const until = Math.min(happened.endedAt + AFTERMATH_MS, next?.startedAt ?? Infinity);
  const approvals = [...approved, Math.max(until, approved.at(-1) ?? 0)];
  let longest = 0;
  for (let index = 1; index < approvals.length; index += 1) {
    const [from, to] = [approvals[index - 1] as number, approvals[index] as number];
    if (to > happened.startedAt && from < until) longest = Math.max(longest, to - from);
  }
  return longest;
}

/** Recovery by kind of fault: count, shortest and longest time. */
export function reportRecovery(happened: readonly Happened[], approvals: readonly number[]): string {
  const sorted = [...approvals].sort((a, b) => a - b);
  const inTurn = happened.filter(({ fault }) => !LONG.includes(fault.kind)).sort((a, b) => a.startedAt - b.startedAt);
  const times = new Map<string, number[]>();
  for (const [index, one] of inTurn.entries()) {
    const longest = recoveryMs(one, inTurn[index + 1], sorted);
    times.set(one.fault.kind, [...(times.get(one.fault.kind) ?? []), longest]);
  }
  const lines = [...times]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([kind, all]) => {
      const range =
        all.length === 1 ? seconds(all[0] ?? 0) : `${seconds(Math.min(...all))} to ${seconds(Math.max(...all))}`;
      return `  ${kind.padEnd(22)} ${String(all.length).padStart(3)}   ${range}`;
    });
  const failed = happened.filter((one) => one.failed !== undefined);
  return [
    'Longest time without an approved card operation around a fault',
    ...lines,
    ...failed.map((one) => `  ${describeFault(one.fault)}: could not be injected: ${one.failed}`),
  ].join('\n');
}

/** These last while other faults come and go, so no gap can be attributed to them. */
const LONG: readonly string[] = ['replica frozen', 'clock off'];
