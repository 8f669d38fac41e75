import type { CollectionAction, ServiceDeclaration } from '@gateway/contracts';
import { commandLines, services, usersOf } from '@gateway/contracts';
import { connectMongo } from './connection';
import type { Document } from './driver';

/** What a user may do in one collection, or in every collection of a database. */
export interface Privilege {
  /** Full name. */
  readonly database: string;
  /** Undefined: every collection. */
  readonly collection?: string;
  readonly actions: readonly CollectionAction[];
}

/** The role of a service or of a command line, in the database `admin`. */
export interface Role {
  readonly name: string;
  /** Who has it: two users of a service, one of a command line. The first has the role's name. */
  readonly users: readonly string[];
  readonly privileges: readonly Privilege[];
}

/** Runs a command on the database `admin`. */
export type AdminCommand = (command: Document) => Promise<Document>;

const OWN: readonly CollectionAction[] = [
  'find',
  'insert',
  'update',
  'remove',
  'listIndexes',
  'createIndex',
  'collMod',
];

type Holder = Pick<ServiceDeclaration, 'name' | 'shares'> & Partial<Pick<ServiceDeclaration, 'database'>>;

/** The least that services and command lines need. None may drop anything. */
export function neededRoles(prefix: string): Role[] {
  const holders: Holder[] = [...Object.values(services), ...Object.values(commandLines)];
  return holders.map(({ name, database, shares }) => ({
    name: prefix + name,
    users: (database === undefined ? [name] : usersOf({ name })).map((user) => prefix + user),
    privileges: [
      ...(database === undefined ? [] : [{ database: prefix + database, actions: OWN }]),
      ...sharedPrivileges(prefix, shares),
    ],
  }));
}

function sharedPrivileges(prefix: string, shares: ServiceDeclaration['shares']): Privilege[] {
  return Object.entries(shares).flatMap(([database, collections]) =>
    Object.entries(collections).map(([collection, actions]) => ({ database: prefix + database, collection, actions })),
  );
}

/** Connects for one piece of work. The URI must name a user who may do it. */
export async function asAdministrator<T>(uri: string, work: (admin: AdminCommand) => Promise<T>): Promise<T> {
  const connection = await connectMongo({ uri, database: 'admin' });
  try {
    return await work((command) => connection.client.db('admin').command(command));
  } finally {
    await connection.close();
  }
}

/** Creates a role, or gives an existing one exactly these privileges. */
export async function applyRole(admin: AdminCommand, { name, privileges }: Role): Promise<'created' | 'updated'> {
  const { roles } = await admin({ rolesInfo: { role: name, db: 'admin' } });
  const exists = (roles as unknown[]).length > 0;
  await admin({
    [exists ? 'updateRole' : 'createRole']: name,
    roles: [],
    privileges: privileges.map(({ database: db, collection = '', actions }) => ({
      resource: { db, collection },
      actions: [...actions],
    })),
  });
  return exists ? 'updated' : 'created';
}

/** Of users of the databases. */
export const LEAST_PASSWORD_LENGTH = 16;

/** Creates a user of a role, or gives an existing one this password and no other role. */
export async function applyUser(
  admin: AdminCommand,
  { user, role }: { user: string; role: string },
  password: string,
): Promise<'created' | 'updated'> {
  const { users } = await admin({ usersInfo: { user, db: 'admin' } });
  const exists = (users as unknown[]).length > 0;
  await admin({ [exists ? 'updateUser' : 'createUser']: user, pwd: password, roles: [{ role, db: 'admin' }] });
  return exists ? 'updated' : 'created';
}
