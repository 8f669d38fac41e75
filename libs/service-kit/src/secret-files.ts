import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secret in a file, without the newline at its end. @throws Error of the file system */
export function readSecretFile(file: string): string {
  return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
}

/**
 * The secrets of a folder by the names of their files, as Docker and Kubernetes mount them. Files that begin with a dot
 * belong to Kubernetes and are skipped.
 *
 * @throws Error of the file system if the folder or a file cannot be read
 */
export function readSecretFolder(folder: string): Map<string, string> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return new Map(names.toSorted().map((name) => [name, readSecretFile(join(folder, name))]));
}
