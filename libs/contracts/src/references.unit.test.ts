import { randomBytes } from 'node:crypto';
import { newPaymentId, newReference, paymentIdOf, systemReference } from './references';

test('a reference has 20 characters of [0-9A-Z] and begins with its payment', () => {
  const paymentId = newPaymentId(randomBytes);
  const reference = newReference(paymentId, randomBytes);
  expect(reference).toMatch(/^[0-9A-Z]{20}$/);
  expect(paymentIdOf(reference)).toBe(paymentId);
});

test('every character is equally likely: biased bytes are discarded', () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const counts = new Map<string, number>();
  let next = 0;
  const everyByte = (size: number): Uint8Array =>
    Uint8Array.from({ length: size }, () => all[next++ % all.length] as number);
  // 252 usable bytes of 256: 63 payment ids of 16 characters take four rounds of all bytes.
  for (let id = 0; id < 63; id += 1) {
    for (const character of newPaymentId(everyByte)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(36);
});

test('system references never collide with those of merchants', () => {
  expect(systemReference('PAYMENT000000001', 0)).toBe('PAYMENT000000001ZZ00');
  expect(systemReference('PAYMENT000000001', 99)).toBe('PAYMENT000000001ZZ2R');
  const draws = [35, 35, 0, 99, 35, 0, 35, 35].map((byte) => Uint8Array.from({ length: 8 }, () => byte));
  const drawn = [Uint8Array.from([35, 35, 1, 2, 0, 0, 0, 0]), Uint8Array.from([35, 34, 35, 35, 0, 0, 0, 0]), ...draws];
  expect(newReference('PAYMENT000000001', () => drawn.shift() ?? new Uint8Array())).toBe('PAYMENT000000001ZYZZ');
});
