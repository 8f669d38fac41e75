import { Secret } from '@gateway/contracts';
import { createKeyRing, newKey, newKeyPair, readKeys } from '@gateway/vault';
import type { Account, AccountCredentials } from './account';
import { createPasswordCheck, createSecretWriter, encryptCopy } from './signing';

const NAME = 'demo_merchant';
const RIGHT = new Secret('right_password');
const WRONG = new Secret('wrong_password');
const [OLD, NEW, OTHER] = [newKey('old'), newKey('new'), newKey('other')] as const;

const keysOf = async (...keys: readonly string[]) =>
  (await readKeys({ ACCOUNT_KEYS: keys.join() }, ['ACCOUNT_KEYS'])).ACCOUNT_KEYS;

/** An account as a process with this key wrote it, with its password sealed or as a copy of an earlier release. */
async function accountUnder(key: string, form: 'sealed' | 'copy', password = RIGHT): Promise<Account> {
  const keys = await keysOf(key);
  const pair = { SIGNING_PUBLIC_KEY: newKeyPair('pair').publicKey };
  const writer = createSecretWriter((await readKeys(pair, ['SIGNING_PUBLIC_KEY'])).SIGNING_PUBLIC_KEY, keys);
  const credentials: Partial<AccountCredentials> = {
    passwordVerifier: writer.passwordVerifier(NAME, RIGHT),
    signingPassword:
      form === 'sealed'
        ? await writer.seal(NAME, 'signing-password', password)
        : encryptCopy(createKeyRing(keys), NAME, 'signing-password', password),
  };
  return { merchantAccount: NAME, credentials: new Secret(credentials) } as Account;
}

test.each(['sealed', 'copy'] as const)('a check tells the right password under any of its keys: %s', async (form) => {
  const check = createPasswordCheck(await keysOf(NEW, OLD));
  for (const key of [NEW, OLD]) {
    const account = await accountUnder(key, form);
    expect([check(account, RIGHT), check(account, WRONG)]).toEqual([true, false]);
  }
});

test('without the key nothing is told, and nobody has a password', async () => {
  const check = createPasswordCheck(await keysOf(NEW));
  for (const form of ['sealed', 'copy'] as const) {
    expect(check(await accountUnder(OTHER, form), RIGHT)).toBeUndefined();
  }
  expect(check(undefined, RIGHT)).toBe(false);
});

test('a copy decides, as an earlier release leaves the verifier of the former password', async () => {
  const check = createPasswordCheck(await keysOf(NEW));
  const account = await accountUnder(NEW, 'copy', new Secret('later_password'));
  expect([check(account, new Secret('later_password')), check(account, RIGHT)]).toEqual([true, false]);
});

test("a verifier of another account's is of no use", async () => {
  const check = createPasswordCheck(await keysOf(NEW));
  const account = await accountUnder(NEW, 'sealed');
  expect(check({ ...account, merchantAccount: 'other_merchant' }, RIGHT)).toBe(false);
});
