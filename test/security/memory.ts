import { readFileSync } from 'node:fs';

/** The most memory that a process has had. */
export function peakMiB(pid: number | undefined): number {
  const [, kib = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
