import { join } from 'node:path';
import { LEAST_PASSWORD_LENGTH } from '@gateway/mongo';
import { ConfigurationError, messageOf, readSecretFolder } from '@gateway/service-kit';

/**
 * Reads passwords from a folder that has one file per user. The name of the file is the user.
 *
 * @param users names that the folder may have; it may lack any of them
 * @returns passwords by user
 * @throws ConfigurationError if the folder cannot be read, a file names an unknown user, or a password is too short
 */
export function readPasswords(folder: string, users: readonly string[]): Map<string, string> {
  const passwords = passwordsIn(folder);
  const problems = [...passwords].flatMap(([name, password]) => {
    if (!users.includes(name)) return `${folder} has a file ${name}, and there is no such user`;
    return password.length < LEAST_PASSWORD_LENGTH
      ? `${join(folder, name)} has fewer than ${LEAST_PASSWORD_LENGTH} characters`
      : [];
  });
  if (problems.length > 0) throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  return passwords;
}

function passwordsIn(folder: string): Map<string, string> {
  try {
    return readSecretFolder(folder);
  } catch (error) {
    throw new ConfigurationError(`Configuration: the folder of passwords cannot be read: ${messageOf(error)}.`);
  }
}
