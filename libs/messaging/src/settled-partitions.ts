/**
 * Which partitions of a topic keys are spread over: those that the topic had when this process first looked, and those
 * added since once they have been known for `settleMs`. Numbers are only ever added, so the settled ones come first.
 */
export function createSettledPartitions(
  settleMs: number,
  nowMs: () => number = () => performance.now(),
): <T>(topic: string, partitions: T[]) => T[] {
  const known = new Map<string, { count: number; seen: number; sinceMs: number }>();
  return (topic, partitions) => {
    const seen = partitions.length;
    const entry = known.get(topic);
    if (entry === undefined || seen < entry.count) {
      known.set(topic, { count: seen, seen, sinceMs: nowMs() });
      return partitions;
    }
    if (seen === entry.count) return partitions;
    if (seen !== entry.seen) {
      entry.seen = seen;
      entry.sinceMs = nowMs();
    }
    if (nowMs() - entry.sinceMs < settleMs) return partitions.slice(0, entry.count);
    entry.count = seen;
    return partitions;
  };
}
