import { newKeyPair, newVaultKeys } from './generate-keys';
import { heldKeysOf } from './held-keys';
import { PUBLIC_HALF, readKeys } from './keys';

type Setting = keyof ReturnType<typeof newVaultKeys>;

const SETTINGS = Object.keys(newVaultKeys()) as Setting[];
const PAIRS = Object.entries(PUBLIC_HALF) as [Setting, Setting][];

describe('held keys', () => {
  it.each(PAIRS)('of %s have the fingerprints of their halves in %s', async (privateHalf, publicHalf) => {
    const config = newVaultKeys('k1');
    const old = newKeyPair('old');
    config[privateHalf] += `,${old.privateKey}`;
    const held = heldKeysOf(await readKeys(config, [privateHalf, publicHalf]));
    const retired = heldKeysOf(await readKeys({ ...config, [publicHalf]: old.publicKey }, [publicHalf]));
    expect(held[privateHalf]).toEqual([...(held[publicHalf] ?? []), ...(retired[publicHalf] ?? [])]);
    expect(held[publicHalf]).toEqual([{ id: 'k1', fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) as string }]);
  });

  it('that belong to no pair show their ids alone', async () => {
    const held = heldKeysOf(await readKeys(newVaultKeys('k1'), SETTINGS));
    const secret = SETTINGS.filter((setting) => !PAIRS.flat().includes(setting));
    expect(secret).toEqual(expect.arrayContaining(['TOKEN_KEYS', 'ACCOUNT_KEYS', 'CARD_HASH_KEY']));
    for (const setting of secret) expect(held[setting]).toEqual([{ id: 'k1' }]);
  });

  it('of two pairs under one id have different fingerprints', async () => {
    const fingerprints = await Promise.all(
      [newKeyPair('k1'), newKeyPair('k1')].map(async ({ publicKey }) =>
        heldKeysOf(await readKeys({ CARD_PUBLIC_KEY: publicKey }, ['CARD_PUBLIC_KEY'])),
      ),
    );
    expect(fingerprints[0]).not.toEqual(fingerprints[1]);
  });
});
