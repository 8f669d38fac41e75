import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { ConfigurationError, messageOf } from '@gateway/service-kit';
import { DecryptionError, parseKeyRing, UnknownKeyError } from './key-ring';
import { readVaultKeys } from './settings';

const key = (): string => randomBytes(32).toString('base64');

function problemOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return messageOf(error);
  }
  throw new Error('nothing was refused');
}

describe('key ring', () => {
  it('decrypts whatever it encrypted', () => {
    const ring = parseKeyRing(`k1:${key()}`);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plain, aad) => {
        const sealed = ring.encrypt(Buffer.from(plain), aad);
        expect(ring.decrypt(sealed, aad).equals(Buffer.from(plain))).toBe(true);
        expect(sealed.data).toHaveLength(12 + 16 + plain.length);
      }),
    );
  });

  it('never gives the same ciphertext twice', () => {
    const ring = parseKeyRing(`k1:${key()}`);
    const seen = new Set(Array.from({ length: 100 }, () => ring.encrypt('4111111111111111', 'a').data.toString('hex')));
    expect(seen.size).toBe(100);
  });

  it('encrypts with the first key and still reads the others', () => {
    const [first, second] = [key(), key()];
    const before = parseKeyRing(`2025:${first}`);
    const after = parseKeyRing(`2026:${second}, 2025:${first}`);
    const old = before.encrypt('old', 'a');
    expect(after.activeKeyId).toBe('2026');
    expect(after.encrypt('new', 'a').keyId).toBe('2026');
    expect(after.decrypt(old, 'a').toString()).toBe('old');
  });

  it('says which key is missing', () => {
    const sealed = parseKeyRing(`gone:${key()}`).encrypt('x', 'a');
    const ring = parseKeyRing(`k2:${key()}`);
    expect(() => ring.decrypt(sealed, 'a')).toThrow(UnknownKeyError);
    expect(() => ring.decrypt(sealed, 'a')).toThrow('"gone" is not in VAULT_KEYS');
  });

  it('rejects a ciphertext with another aad, another key of the same id, or truncated', () => {
    const ring = parseKeyRing(`k1:${key()}`);
    const sealed = ring.encrypt('x', 'card-1');
    expect(() => ring.decrypt(sealed, 'card-2')).toThrow(DecryptionError);
    expect(() => parseKeyRing(`k1:${key()}`).decrypt(sealed, 'card-1')).toThrow(DecryptionError);
    for (const length of [0, 11, 27, sealed.data.length - 1]) {
      expect(() => ring.decrypt({ keyId: 'k1', data: sealed.data.subarray(0, length) }, 'card-1')).toThrow(
        DecryptionError,
      );
    }
  });

  it('rejects a ciphertext with any bit flipped', () => {
    const ring = parseKeyRing(`k1:${key()}`);
    const { keyId, data } = ring.encrypt('4111111111111111', 'a');
    fc.assert(
      fc.property(fc.nat({ max: data.length * 8 - 1 }), (bit) => {
        const tampered = Buffer.from(data);
        tampered[bit >> 3] = (tampered[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => ring.decrypt({ keyId, data: tampered }, 'a')).toThrow(DecryptionError);
      }),
    );
  });

  it('is stable across releases: this ciphertext must always open', () => {
    const ring = parseKeyRing(`k1:${Buffer.alloc(32, 7).toString('base64')}`);
    const data = Buffer.from('AQEBAQEBAQEBAQEBdAlaFX3+DUlO4eSXnRiDi1z3D6RNC8W/y98WKjpopjU=', 'base64');
    expect(ring.decrypt({ keyId: 'k1', data }, 'card-1').toString()).toBe('4111111111111111');
  });

  it('does not print keys', () => {
    const text = key();
    const ring = parseKeyRing(`k1:${text}`);
    const printed = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring);
    expect(printed).not.toContain(text);
    expect(printed).not.toContain(Buffer.from(text, 'base64').toString('hex'));
  });
});

describe('vault settings', () => {
  const good = key();

  it.each([
    ['', 'VAULT_KEYS entry 1 is not of the form id:base64'],
    [good, 'entry 1 is not of the form'],
    [`a:${good},`, 'entry 2 is not of the form'],
    [`a b:${good}`, 'entry 1 has an id that is not'],
    [`a:${good},a:${good}`, 'entry 2 repeats the id "a"'],
    [`a:${randomBytes(31).toString('base64')}`, 'entry 1 has a key that is not the base64 of 32 bytes'],
    [`a:${good.slice(0, -1)}`, 'entry 1 has a key that is not the base64'],
    [`a:!!${good}`, 'entry 1 has a key that is not the base64'],
    [Array.from({ length: 17 }, (_, index) => `k${index}:${key()}`).join(), 'more than 16'],
  ])('refuses %j', (text, problem) => {
    expect(problemOf(() => parseKeyRing(text))).toContain(problem);
  });

  it('reports all problems together, and no key', () => {
    const problem = problemOf(() =>
      readVaultKeys({ VAULT_KEYS: `${good},b:short,c:${good},c:${good}`, VAULT_TOKEN_KEY: 'c2hvcnQ=' }),
    );
    expect(problem).toBe(
      'Configuration: VAULT_KEYS entry 1 is not of the form id:base64; ' +
        'VAULT_KEYS entry 2 has a key that is not the base64 of 32 bytes; VAULT_KEYS entry 4 repeats the id "c"; ' +
        'VAULT_TOKEN_KEY is not the base64 of at least 32 bytes.',
    );
  });

  it('accepts good keys', () => {
    const { keyRing, tokenKey } = readVaultKeys({ VAULT_KEYS: `a:${good}`, VAULT_TOKEN_KEY: good });
    expect(keyRing.activeKeyId).toBe('a');
    expect(tokenKey.expose()).toHaveLength(32);
  });
});
