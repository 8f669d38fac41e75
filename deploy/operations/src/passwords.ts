import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAST_PASSWORD_LENGTH } from '@gateway/mongo';
import { ConfigurationError, messageOf } from '@gateway/service-kit';

/**
 * The passwords in a folder with a file for each user, as Docker and Kubernetes mount secrets: by name of the user,
 * without the newline at the end. Names that begin with a dot are Kubernetes' own.
 *
 * @param users names that may be there; none has to
 * @throws ConfigurationError for a folder that cannot be read, a name of nobody, and a short password
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
