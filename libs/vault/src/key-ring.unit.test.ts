import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { KeyRing } from './key-ring';
import { createKeyRing, DecryptionError } from './key-ring';
import { readKeys, UnknownKeyError } from './keys';

const key = (): string => randomBytes(32).toString('base64');

async function ringOf(text: string): Promise<KeyRing> {
  return createKeyRing((await readKeys({ ACCOUNT_KEYS: text }, ['ACCOUNT_KEYS'])).ACCOUNT_KEYS);
}

describe('key ring', () => {
  it('decrypts whatever it encrypted', async () => {
    const ring = await ringOf(`k1:${key()}`);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plain, aad) => {
        const sealed = ring.encrypt(Buffer.from(plain), aad);
        expect(ring.decrypt(sealed, aad).equals(Buffer.from(plain))).toBe(true);
        expect(sealed.data).toHaveLength(12 + 16 + plain.length);
      }),
    );
  });

  it('never gives the same ciphertext twice', async () => {
    const ring = await ringOf(`k1:${key()}`);
    const seen = new Set(Array.from({ length: 100 }, () => ring.encrypt('4111111111111111', 'a').data.toString('hex')));
    expect(seen.size).toBe(100);
  });

  it('encrypts with the first key and still reads the others', async () => {
    const [first, second] = [key(), key()];
    const before = await ringOf(`2025:${first}`);
    const after = await ringOf(`2026:${second}, 2025:${first}`);
    const old = before.encrypt('old', 'a');
    expect(after.activeKeyId).toBe('2026');
    expect(after.encrypt('new', 'a').keyId).toBe('2026');
    expect(after.decrypt(old, 'a').toString()).toBe('old');
  });

  it('says which key is missing', async () => {
    const sealed = (await ringOf(`gone:${key()}`)).encrypt('x', 'a');
    const ring = await ringOf(`k2:${key()}`);
    expect(() => ring.decrypt(sealed, 'a')).toThrow(UnknownKeyError);
    expect(() => ring.decrypt(sealed, 'a')).toThrow('"gone" is not in ACCOUNT_KEYS');
  });

  it('rejects a ciphertext with another aad, another key of the same id, or truncated', async () => {
    const ring = await ringOf(`k1:${key()}`);
    const other = await ringOf(`k1:${key()}`);
    const sealed = ring.encrypt('x', 'card-1');
    expect(() => ring.decrypt(sealed, 'card-2')).toThrow(DecryptionError);
    expect(() => other.decrypt(sealed, 'card-1')).toThrow(DecryptionError);
    for (const length of [0, 11, 27, sealed.data.length - 1]) {
      expect(() => ring.decrypt({ keyId: 'k1', data: sealed.data.subarray(0, length) }, 'card-1')).toThrow(
        DecryptionError,
      );
    }
  });

  it('rejects a ciphertext with any bit flipped', async () => {
    const ring = await ringOf(`k1:${key()}`);
    const { keyId, data } = ring.encrypt('4111111111111111', 'a');
    fc.assert(
      fc.property(fc.nat({ max: data.length * 8 - 1 }), (bit) => {
        const tampered = Buffer.from(data);
        tampered[bit >> 3] = (tampered[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => ring.decrypt({ keyId, data: tampered }, 'a')).toThrow(DecryptionError);
      }),
    );
  });

  it('is stable across releases: this ciphertext must always open', async () => {
    const ring = await ringOf(`k1:${Buffer.alloc(32, 7).toString('base64')}`);
    const data = Buffer.from('AQEBAQEBAQEBAQEBdAlaFX3+DUlO4eSXnRiDi1z3D6RNC8W/y98WKjpopjU=', 'base64');
    expect(ring.decrypt({ keyId: 'k1', data }, 'card-1').toString()).toBe('4111111111111111');
  });

  it('does not print keys', async () => {
    const text = key();
    const ring = await ringOf(`k1:${text}`);
    const printed = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring);
    expect(printed).not.toContain(text);
    expect(printed).not.toContain(Buffer.from(text, 'base64').toString('hex'));
  });
});
