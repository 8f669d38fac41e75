import { createHash } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { createProofs } from './proofs';

const key = (byte: number) => new Secret(Buffer.alloc(32, byte));
const proofs = createProofs([key(1)]);
const ONE = { reference: 'A'.repeat(20) };
const OTHER = { reference: 'B'.repeat(20) };

test('handles are stable, and differ by reference, purpose and key', () => {
  expect(proofs.pares(ONE)).toBe(proofs.pares(ONE));
  const others = createProofs([key(2)]);
  const all = [proofs, others].flatMap((one) => [ONE, OTHER].flatMap((of) => [one.pareq(of), one.pares(of)]));
  expect(new Set(all).size).toBe(8);
  for (const handle of all) expect(handle).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('the hash is that of the text', () => {
  expect(proofs.paresHash(ONE)).toBe(createHash('sha256').update(proofs.pares(ONE)).digest('hex'));
});

test('a PaReq is valid for its own reference only', () => {
  expect(proofs.isPareq(ONE, proofs.pareq(ONE))).toBe(true);
  for (const given of [proofs.pareq(OTHER), proofs.pares(ONE), '', `${proofs.pareq(ONE)}=`]) {
    expect(proofs.isPareq(ONE, given)).toBe(false);
  }
});

describe('while the key changes, all replicas derive the same handles for an authentication', () => {
  const steps = [[key(1)], [key(1), key(2)], [key(2), key(1)], [key(2)]] as const;
  const replicas = steps.map((keys) => createProofs(keys));

  test.each([
    [1, 0],
    [0, 1],
    [2, 1],
    [1, 2],
    [3, 2],
    [2, 3],
  ])('begun at step %i, continued at step %i', (begun, continued) => {
    const [first, next] = [replicas[begun]!, replicas[continued]!];
    const of = { ...ONE, proofKeyId: first.keyId };
    expect([next.pareq(of), next.pares(of), next.paresHash(of)]).toEqual([
      first.pareq(of),
      first.pares(of),
      first.paresHash(of),
    ]);
    expect(next.isPareq(of, first.pareq(of))).toBe(true);
  });

  test('an authentication without a key is under the first one', () => {
    expect(replicas[1]?.pares(ONE)).toBe(replicas[0]?.pares(ONE));
  });
});
