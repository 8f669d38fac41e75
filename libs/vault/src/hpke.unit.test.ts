import { randomBytes } from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { Secret } from '@gateway/contracts';
import { createOpener, createSealer, publicKeyOf } from './hpke';
import { DecryptionError } from './key-ring';
import type { Key } from './keys';
import { keysOf, UnknownKeyError } from './keys';

const newKey = (id: string): Key => ({ id, key: new Secret(randomBytes(32)) });
const publicOf = ({ id, key }: Key): Key => ({ id, key: publicKeyOf(key) });
const openerOf = (...keys: Key[]) => createOpener(keysOf('CARD_KEYS', keys), 'card');

const own = newKey('k1');
const psk = newKey('t1');
const sealer = createSealer(publicOf(own), 'card');

test('the private key opens what its public key sealed', async () => {
  const sealed = await sealer.seal('4111111111111111', 'card-1', psk);
  expect(sealed.keyId).toBe('k1');
  expect(sealed.data).toHaveLength(32 + 16 + 16);
  expect((await openerOf(own).open(sealed, 'card-1', psk)).toString()).toBe('4111111111111111');
});

test('each ciphertext has an encapsulated key of its own', async () => {
  const sealed = await Promise.all(Array.from({ length: 20 }, () => sealer.seal('x', 'a', psk)));
  expect(new Set(sealed.map(({ data }) => data.subarray(0, 32).toString('hex'))).size).toBe(20);
});

test('the opener seals for its first key and opens for all of them', async () => {
  const next = newKey('k2');
  const opener = openerOf(next, own);
  expect(opener.sealer.keyId).toBe('k2');
  const both = await Promise.all([sealer, opener.sealer].map((one) => one.seal('x', 'a', psk)));
  for (const sealed of both) expect((await opener.open(sealed, 'a', psk)).toString()).toBe('x');
});

describe('does not open', () => {
  const refused = async (change: { aad?: string; psk?: Key; key?: Key; flip?: number }): Promise<unknown> => {
    const { keyId, data } = await sealer.seal('4111111111111111', 'a', psk);
    if (change.flip !== undefined) data[change.flip] = (data[change.flip] as number) ^ 1;
    return openerOf(change.key ?? own)
      .open({ keyId, data }, change.aad ?? 'a', change.psk ?? psk)
      .then(
        (opened) => opened.toString(),
        (error: unknown) => error,
      );
  };

  test('(but does when nothing was changed)', async () => {
    expect(await refused({})).toBe('4111111111111111');
  });

  test.each([
    ['for another record', { aad: 'b' }],
    ['from who does not hold the pre-shared key', { psk: newKey('t1') }],
    ['under another id of the pre-shared key', { psk: { ...psk, id: 't2' } }],
    ['under another key of the same id', { key: newKey('k1') }],
    ['with another encapsulated key', { flip: 5 }],
    ['with another ciphertext', { flip: 40 }],
    ['with another tag', { flip: 63 }],
  ])('%s', async (_name, change) => {
    expect(await refused(change)).toBeInstanceOf(DecryptionError);
  });

  test('without its key', async () => {
    const sealed = await sealer.seal('x', 'a', psk);
    await expect(openerOf(newKey('k2')).open(sealed, 'a', psk)).rejects.toThrow(UnknownKeyError);
  });

  test('for another purpose', async () => {
    const sealed = await createSealer(publicOf(own), 'cvv').seal('x', 'a', psk);
    await expect(openerOf(own).open(sealed, 'a', psk)).rejects.toThrow(DecryptionError);
  });

  test.each([0, 31, 32, 47])('when only %i bytes are left', async (length) => {
    const { keyId, data } = await sealer.seal('x', 'a', psk);
    const cut = { keyId, data: data.subarray(0, length) };
    await expect(openerOf(own).open(cut, 'a', psk)).rejects.toThrow(DecryptionError);
  });
});

/** The library with its own primitives, which are tested against the vectors of RFC 9180. */
describe('the library alone', () => {
  const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  const schedule = { info: Buffer.from('payment gateway card'), psk: { id: Buffer.from('t1'), key: psk.key.expose() } };

  test('opens what was sealed here', async () => {
    const { data } = await sealer.seal('4111111111111111', 'a', psk);
    const recipientKey = await suite.kem.deserializePrivateKey(own.key.expose());
    const params = { recipientKey, enc: data.subarray(0, 32), ...schedule };
    const opened = await suite.open(params, data.subarray(32), Buffer.from('a'));
    expect(Buffer.from(opened).toString()).toBe('4111111111111111');
  });

  test('seals what opens here', async () => {
    const recipientPublicKey = await suite.kem.deserializePublicKey(publicKeyOf(own.key).expose());
    const params = { recipientPublicKey, ...schedule };
    const { enc, ct } = await suite.seal(params, Buffer.from('4111111111111111'), Buffer.from('a'));
    const data = Buffer.concat([Buffer.from(enc), Buffer.from(ct)]);
    expect((await openerOf(own).open({ keyId: 'k1', data }, 'a', psk)).toString()).toBe('4111111111111111');
  });
});

test('is stable across releases: this ciphertext must always open', async () => {
  const fixed = { id: 'k1', key: new Secret(Buffer.alloc(32, 7)) };
  const data = Buffer.from(
    'NA/HAzFheYPrw66wt5+C+h+sZ0iuux1o4f6gTYihR2DbYXjyVoh9MXVC/eT6ZiYEydPSny2Si+eARRzPL8msWA==',
    'base64',
  );
  const opened = await openerOf(fixed).open({ keyId: 'k1', data }, 'card-1', { ...fixed, id: 't1' });
  expect(opened.toString()).toBe('4111111111111111');
});
