import { randomInt } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import { MAX_CREDENTIAL_LENGTH } from './account';
import { AccountError } from './account-error';

const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** decisions.md, section 11. Older accounts keep shorter ones, which `MIN_CREDENTIAL_LENGTH` still admits. */
const MIN_NEW_SECRET_LENGTH = 12;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Throws an AccountError if the secret that an operator chose has a wrong length or other characters. */
export function checkedSecret(name: string, secret: Secret | undefined): Secret | undefined {
  const length = secret?.expose().length ?? MIN_NEW_SECRET_LENGTH;
  if (length < MIN_NEW_SECRET_LENGTH || length > MAX_CREDENTIAL_LENGTH || !PRINTABLE.test(secret?.expose() ?? '')) {
    const range = `${MIN_NEW_SECRET_LENGTH} to ${MAX_CREDENTIAL_LENGTH}`;
    throw new AccountError('invalid', `The ${name} must have ${range} printable ASCII characters.`);
  }
  return secret;
}

/** 32 letters and digits: 190 bits. A weak secret could be guessed from a callback's signature. */
export function newSecret(): Secret {
  const characters = Array.from(
    { length: MAX_CREDENTIAL_LENGTH },
    () => SECRET_ALPHABET[randomInt(SECRET_ALPHABET.length)],
  );
  return new Secret(characters.join(''));
}
