import { join } from 'node:path';
import { LEAST_PASSWORD_LENGTH } from '@gateway/mongo';
import { ConfigurationError, messageOf, readSecretFolder } from '@gateway/service-kit';

/**
 * Reads passwords from a folder that has one file per user. The name of the file is the user.
 *
 * @param users names that the folder may have; it may lack any of them
 * @returns passwords by user
 * @throws ConfigurationError if the folder cannot be read, a file names an unknown user, or it holds no password
 * of enough characters
 */
export function readPasswords(folder: string, users: readonly string[]): Map<string, string> {
  const passwords = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, read] of filesIn(folder)) {
    if (!users.includes(name)) problems.push(`${folder} has a file ${name}, and there is no such user`);
    else if ('fault' in read) problems.push(`${join(folder, name)} ${read.fault}`);
    else if (read.text.length < LEAST_PASSWORD_LENGTH)
      problems.push(`${join(folder, name)} has fewer than ${LEAST_PASSWORD_LENGTH} characters`);
    else passwords.set(name, read.text);
  }
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return passwords;
}

function filesIn(folder: string): ReturnType<typeof readSecretFolder> {
  try {
    return readSecretFolder(folder);
  } catch (error) {
    throw new ConfigurationError(`Configuration: the folder of passwords cannot be read: ${messageOf(error)}.`);
  }
}
