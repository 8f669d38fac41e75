import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigurationError } from './configuration-error';
import { messageOf } from './errors';

/**
 * The authorities in a PEM file, the only ones that one counterpart's certificate may have (ADR 0083).
 *
 * @throws ConfigurationError if the file has none
 */
export function readAuthority(file: string): Buffer {
  try {
    const pem = readFileSync(file);
    // OpenSSL takes a file without certificates, and then trusts nobody.
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new ConfigurationError(`Configuration: the authority in ${file} cannot be used: ${messageOf(error)}.`);
  }
}
