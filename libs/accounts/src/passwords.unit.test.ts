import { Secret } from '@gateway/contracts';
import { createPasswordHasher } from './passwords';

const hasher = createPasswordHasher();
const password = new Secret('demo_password');

it('accepts only the right password', async () => {
  const stored = await hasher.hash(password);
  expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await hasher.matches(stored, password)).toBe(true);
  expect(await hasher.matches(stored, new Secret('demo_passwore'))).toBe(false);
  expect(await hasher.matches(stored, new Secret(''))).toBe(false);
});

it('salts', async () => {
  expect(await hasher.hash(password)).not.toBe(await hasher.hash(password));
});

it.each(['', 'demo_password', '$scrypt$ln=1,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA', '$scrypt$ln=15,r=8,p=1$AAAA$AAAA'])(
  'refuses %j as a stored hash instead of matching it cheaply',
  async (stored) => {
    await expect(hasher.matches(stored, password)).rejects.toThrow('not of the form');
  },
);
