import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The largest key ring or address is far smaller. */
const MAX_BYTES = 65_536;

/** The secret that a file holds, or what is wrong with the file: the rest of a sentence. Neither quotes a value. */
export type SecretText = { text: string } | { fault: string };

/**
 * Reads a secret from a file: one line of UTF-8, without the newline at its end. Everything that editors and shells add
 * unseen is a fault: a key or password with it in would be refused elsewhere, by somebody who cannot see it either.
 *
 * @throws the error of the file system if the file cannot be read
 */
export function readSecretFile(file: string): SecretText {
  const bytes = firstBytesOf(file);
  const fault = faultOfBytes(bytes);
  if (fault !== undefined) return { fault };
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (text === '') return { fault: 'is empty' };
  if (text.includes('\n')) return { fault: 'has more than one line' };
  return text.includes('\r') ? { fault: 'has a carriage return (CR)' } : { text };
}

/**
 * The secrets of a folder by the names of their files, as Docker and Kubernetes mount them. Files that begin with a dot
 * belong to Kubernetes and are skipped.
 *
 * @throws the error of the file system if the folder or a file cannot be read
 */
export function readSecretFolder(folder: string): Map<string, SecretText> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return new Map(names.toSorted().map((name) => [name, readSecretFile(join(folder, name))]));
}

function faultOfBytes(bytes: Buffer): string | undefined {
  if (bytes.length > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) return 'is UTF-16; write it as UTF-8';
  if (startsWith(bytes, [0xef, 0xbb, 0xbf])) return 'begins with a byte order mark (BOM); write it without';
  if (bytes.includes(0)) return 'has a NUL byte, as UTF-16 does; write it as UTF-8';
  return isUtf8(bytes) ? undefined : 'is not UTF-8';
}

function startsWith(bytes: Buffer, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

/** One byte more than a secret may have, at most: the name may be that of a device without an end. */
function firstBytesOf(file: string): Buffer {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  const descriptor = openSync(file, 'r');
  try {
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += read;
      if (read === 0 || length === bytes.length) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}
