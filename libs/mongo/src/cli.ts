import { text } from 'node:stream/consumers';
import type { Print } from '@gateway/service-kit';
import {
  ConfigurationError,
  explanationOf,
  isPublished,
  loadConfig,
  mongoProductionRules,
  mongoSchema,
  parseId,
  runCommandLine,
} from '@gateway/service-kit';
import type { Role } from './roles';
import { applyRole, applyUser, asAdministrator, LEAST_PASSWORD_LENGTH, neededRoles } from './roles';

const USAGE = `usage: npm run mongo -- roles              what each service and command line may do
       npm run mongo -- roles --apply      creates these roles, or corrects them
       npm run mongo -- user NAME          creates a user of a role, with the password that comes on standard input
                                           (at least ${LEAST_PASSWORD_LENGTH} characters), or changes the password
Roles and users are in the database admin. MONGODB_URI must name a user who may create users and roles.
Uses the settings of the last npm start, or MONGODB_URI and DATABASE_PREFIX.`;

type Command = { name: 'roles'; apply: boolean } | { name: 'user'; user: string };

/** Undefined if the arguments are invalid. */
export function parseArguments([name, ...rest]: readonly string[]): Command | undefined {
  if (name === 'roles' && rest.length === 0) return { name, apply: false };
  if (name === 'roles' && rest.length === 1 && rest[0] === '--apply') return { name, apply: true };
  const user = name === 'user' ? parseId(rest) : undefined;
  return user === undefined ? undefined : { name: 'user', user };
}

/**
 * Runs one command.
 *
 * @param readInput everything on standard input
 * @returns the exit code: 0, 1 if the command failed, 2 for wrong usage or settings.
 */
export async function runMongoCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: Print,
  readInput: () => Promise<string> = () => text(process.stdin),
): Promise<number> {
  const command = parseArguments(args);
  if (command === undefined) {
    if (args.length > 0 && args[0] !== 'help') print(`Wrong arguments: ${args.join(' ')}`);
    print(USAGE);
    return args[0] === 'help' ? 0 : 2;
  }
  try {
    const { NODE_ENV, MONGODB_URI: uri, DATABASE_PREFIX: prefix } = loadConfig(mongoSchema, env, mongoProductionRules);
    const roles = neededRoles(prefix);
    if (command.name === 'user') {
      const user = userNamed(roles, prefix + command.user);
      await setUser(uri, user, passwordIn(await readInput(), NODE_ENV === 'production'), print);
    } else if (command.apply) await apply(uri, roles, print);
    else roles.forEach((role) => printRole(role, print));
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return error instanceof ConfigurationError ? 2 : 1;
  }
}

function printRole({ name, privileges }: Role, print: Print): void {
  for (const { database, collection = '*', actions } of privileges) {
    print([name, `${database}.${collection}`, actions.join(' ')].join('\t'));
  }
}

interface User {
  user: string;
  role: Role;
}

function userNamed(roles: readonly Role[], user: string): User {
  const role = roles.find(({ users }) => users.includes(user));
  if (role !== undefined) return { user, role };
  throw new Error(`there is no user ${user}; there are ${roles.flatMap(({ users }) => users).join(', ')}`);
}

async function apply(uri: string, roles: readonly Role[], print: Print): Promise<void> {
  await asAdministrator(uri, async (admin) => {
    for (const role of roles) print(`${role.name}\t${await applyRole(admin, role)}`);
  });
}

function passwordIn(input: string, mustBeOwn: boolean): string {
  const password = input.replace(/\r?\n$/, '');
  if (password.length < LEAST_PASSWORD_LENGTH) {
    throw new Error(`a password has at least ${LEAST_PASSWORD_LENGTH} characters`);
  }
  if (mustBeOwn && isPublished(password)) throw new Error('this password is published with this software');
  return password;
}

async function setUser(uri: string, { user, role }: User, password: string, print: Print): Promise<void> {
  await asAdministrator(uri, async (admin) => {
    await applyRole(admin, role);
    print(`${user}\t${await applyUser(admin, { user, role: role.name }, password)}`);
  });
}

if (require.main === module) runCommandLine(runMongoCli);
