/**
 * The partitions of a topic that keys may use: those that existed when this process first saw the topic, and later ones
 * once they have been known for `settleMs`. Kafka only appends partitions, so the settled ones come first.
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
