import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAST_PASSWORD_LENGTH } from '@gateway/mongo';
import { ConfigurationError, messageOf } from '@gateway/service-kit';

/**
 * Reads passwords from a folder that has one file per user, as Docker and Kubernetes mount secrets. The name of the file
 * is the user. A newline at the end of the password is dropped. Files that begin with a dot belong to Kubernetes and are
 * skipped.
 *
 * @param users names that the folder may have; it may lack any of them
 * @returns passwords by user
 * @throws ConfigurationError if the folder cannot be read, a file names an unknown user, or a password is too short
 */
export function readPasswords(folder: string, users: readonly string[]): Map<string, string> {
  const passwords = new Map<string, string>();
  const problems: string[] = [];
  for (const name of namesIn(folder)) {
    const password = readFileSync(join(folder, name), 'utf8').replace(/\r?\n$/, '');
    if (!users.includes(name)) problems.push(`${folder} has a file ${name}, and there is no such user`);
    else if (password.length < LEAST_PASSWORD_LENGTH)
      problems.push(`${join(folder, name)} has fewer than ${LEAST_PASSWORD_LENGTH} characters`);
    else passwords.set(name, password);
  }
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return passwords;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .toSorted();
  } catch (error) {
    throw new ConfigurationError(`Configuration: the folder of passwords cannot be read: ${messageOf(error)}.`);
  }
}
