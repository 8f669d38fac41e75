import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@gateway/contracts';

/**
 * N = 2^15, r = 8, p = 1: 32 MiB and 60 to 100 ms on one core. OWASP's table asks for p = 3 at this N to protect
 * chosen passwords; generated ones have 190 bits.
 */
const LOG2_COST = 15;
const BLOCK_SIZE = 8;
const PARALLELIZATION = 1;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const HEADER = `$scrypt$ln=${LOG2_COST},r=${BLOCK_SIZE},p=${PARALLELIZATION}$`;

/** Hashes as PHC strings: `$scrypt$ln=15,r=8,p=1$salt$key`, base64 without padding. */
export interface PasswordHasher {
  hash(password: Secret): Promise<string>;
  /** Costs one hash in any case. Throws if the stored hash has other parameters. */
  matches(storedHash: string, password: Secret): Promise<boolean>;
}

export function createPasswordHasher(): PasswordHasher {
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return encode(salt, await derive(password, salt));
    },
    async matches(storedHash, password) {
      const { salt, key } = decode(storedHash);
      return timingSafeEqual(await derive(password, salt), key);
    },
  };
}

function derive(password: Secret, salt: Buffer): Promise<Buffer> {
  const options = { N: 2 ** LOG2_COST, r: BLOCK_SIZE, p: PARALLELIZATION, maxmem: MAX_MEMORY_BYTES };
  return new Promise((resolve, reject) => {
    scrypt(password.expose(), salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function encode(salt: Buffer, key: Buffer): string {
  return `${HEADER}${unpadded(salt)}$${unpadded(key)}`;
}

function decode(storedHash: string): { salt: Buffer; key: Buffer } {
  const [salt = '', key = ''] = storedHash.slice(HEADER.length).split('$');
  const decoded = { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
  if (!storedHash.startsWith(HEADER) || decoded.salt.length !== SALT_BYTES || decoded.key.length !== KEY_BYTES) {
    throw new Error('a stored password hash is not of the form that this release writes');
  }
  return decoded;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
