import { createHash } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { createProofs } from './proofs';

const proofs = createProofs(new Secret(Buffer.alloc(32, 1)));
const [ONE, OTHER] = ['A'.repeat(20), 'B'.repeat(20)];

test('handles are stable, and differ by reference, purpose and key', () => {
  expect(proofs.pares(ONE)).toBe(proofs.pares(ONE));
  const others = createProofs(new Secret(Buffer.alloc(32, 2)));
  const all = [proofs, others].flatMap((one) => [ONE, OTHER].flatMap((ref) => [one.pareq(ref), one.pares(ref)]));
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
