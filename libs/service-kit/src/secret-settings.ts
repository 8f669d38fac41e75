import type { StringOptions, TSchema, TString } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { FOLDER_KEYWORD, OWN_KEYWORD } from './published-secrets';
import { readSecretFile } from './secret-files';

export type Environment = Record<string, string | undefined>;

/** Marks a setting in its schema; `config.ts` declares it to ajv, and the tables of docs/settings.md show it. */
export const SECRET_KEYWORD = 'secret';

/** A setting that is a secret. Its value comes from the variable, or from the file that `<NAME>_FILE` names. */
export function secretText(options: StringOptions & { description: string }): TString {
  return Type.String({ ...options, [SECRET_KEYWORD]: true, [OWN_KEYWORD]: true });
}

/** A key that is no secret, but has a private half that is: production refuses those that are published. */
export function ownKeyText(options: StringOptions & { description: string }): TString {
  return Type.String({ ...options, [OWN_KEYWORD]: true });
}

/** A folder with a secret in each file, which `readSecretFolder` reads. Production looks at each, as at {@link secretText}. */
export function secretFolder(options: StringOptions & { description: string }): TString {
  return Type.String({ minLength: 1, ...options, [FOLDER_KEYWORD]: true });
}

export function isSecret(setting: TSchema): boolean {
  return setting[SECRET_KEYWORD] === true;
}

/** The value of a variable; an empty string counts as unset. */
export function valueOf(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The value, or why there is none. The problem never quotes a value. */
export type ReadSecret = { value: string | undefined } | { problem: string };

/** Reads a secret from `<name>` or from the file that `<name>_FILE` names ({@link readSecretFile}). */
export function readSecret(env: Environment, name: string): ReadSecret {
  const value = valueOf(env, name);
  const file = valueOf(env, `${name}_FILE`);
  if (file === undefined) return { value };
  if (value !== undefined) return { problem: `${name} and ${name}_FILE are both set` };
  try {
    const read = readSecretFile(file);
    return 'text' in read
      ? { value: read.text }
      : { problem: `${name}_FILE names a file, ${file}, that ${read.fault}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${name}_FILE names a file that cannot be read, ${file} (${code})` };
  }
}
