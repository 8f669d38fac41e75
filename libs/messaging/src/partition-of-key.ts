const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/**
 * The partition of a key, as Kafka's own clients and kafkajs choose it: all processes must agree, whatever their release.
 * kafkajs computes the hash (murmur2) with BigInt.
 */
export function partitionOfKey(key: Buffer | string, partitions: number): number {
  return (murmur2(typeof key === 'string' ? Buffer.from(key) : key) & 0x7fffffff) % partitions;
}

function murmur2(data: Buffer): number {
  const { length } = data;
  const whole = length - (length % 4);
  let hash = SEED ^ length;
  for (let at = 0; at < whole; at += 4) {
    let k = Math.imul(data.readInt32LE(at), M);
    k = Math.imul(k ^ (k >>> 24), M);
    hash = Math.imul(hash, M) ^ k;
  }
  if (whole < length) {
    for (let at = length - 1; at >= whole; at -= 1) hash ^= data.readUInt8(at) << (8 * (at - whole));
    hash = Math.imul(hash, M);
  }
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}
