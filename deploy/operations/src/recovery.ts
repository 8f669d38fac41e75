import { recordCommand } from '@gateway/audit';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
import type { MongoConnection, Recovery, StoredProgress } from '@gateway/mongo';
import { connectMongo, endRecovery, PROGRESS, stillToReplay } from '@gateway/mongo';
import type { Environment, Print } from '@gateway/service-kit';
import { ConfigurationError, explanationOf, runCommandLine } from '@gateway/service-kit';
import type { ListedHold } from './recovery-holds';
import { holdsIn } from './recovery-holds';
import { readConfig } from './settings';

const LISTED_MAX = 500;
const USAGE = `usage: npm run recovery -- status              which services are in recovery, and how much they have read again
       npm run recovery -- list                what has no known outcome, holds that nobody will void, and holds
                                               whose end waits; at most ${LISTED_MAX} of each kind
       npm run recovery -- end --reason TEXT [--even-if-open]
                                               new work begins again; refused while messages are read again
                                               or outcomes are unknown, unless --even-if-open
docs/recovery.md says how to use it after a restore.`;

/** A payout in this state waits for nothing but the end: its bank is asked again before it may get it. */
const ASKED_FIRST = 'submitting';

type Command = { name: 'status' | 'list' } | { name: 'end'; reason: string; evenIfOpen: boolean };

/** Undefined if the arguments are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...options] = args;
  if (name === 'status' || name === 'list') return options.length === 0 ? { name } : undefined;
  if (name !== 'end') return undefined;
  const evenIfOpen = options.includes('--even-if-open');
  const [flag, reason, ...rest] = options.filter((option) => option !== '--even-if-open');
  if (flag !== '--reason' || reason === undefined || reason.trim() === '' || reason.length > 200 || rest.length > 0)
    return undefined;
  return { name, reason, evenIfOpen };
}

/** @returns the exit code: 0, 1 if it failed or was refused, 2 for wrong usage or settings */
export async function runRecovery(args: readonly string[], env: Environment, print: Print): Promise<number> {
  const command = parseArguments(args);
  if (command === undefined) {
    print(USAGE);
    return args[0] === 'help' ? 0 : 2;
  }
  try {
    const { MONGODB_URI: uri, DATABASE_PREFIX: prefix } = readConfig(env);
    const databases = new Map<string, MongoConnection>();
    try {
      for (const { database, name } of Object.values(services)) {
        if (name === services.simulator.name) continue;
        databases.set(database, await connectMongo({ uri, database: prefix + database }));
      }
      return await execute(command, { databases, env, print });
    } finally {
      for (const connection of databases.values()) await connection.close();
    }
  } catch (error) {
    print(`recovery failed: ${explanationOf(error)}`);
    return error instanceof ConfigurationError ? 2 : 1;
  }
}

interface Context {
  /** By name, without prefix. */
  databases: ReadonlyMap<string, MongoConnection>;
  env: Environment;
  print: Print;
}

/** A service in recovery. */
interface Recovering {
  service: string;
  mongo: MongoConnection;
  recovery: Recovery;
  /** Messages of the lost time that it has not read again. */
  unread: number;
}

/** An operation or payout without a known outcome. */
interface Open {
  kind: string;
  reference: string;
  state: string;
}

async function execute(command: Command, context: Context): Promise<number> {
  const { print } = context;
  const recovering = await recoveringIn(context);
  if (recovering.length === 0) {
    print('No service is in recovery.');
    return command.name === 'end' ? 1 : 0;
  }
  switch (command.name) {
    case 'status':
      for (const one of recovering) print(statusOf(one));
      return 0;
    case 'list': {
      const [open, holds] = [await openIn(context), await openHolds(context)];
      for (const { kind, reference, state } of open) print(`${kind}  ${reference}  ${state}`);
      for (const { kind, reference, state } of holds) print(`HOLD  ${reference}  ${kind}, ${state}`);
      const abandoned = holds.filter(({ kind }) => kind === 'abandoned').length;
      const due = holds.length - abandoned;
      print(`${open.length} without a known outcome, ${abandoned} abandoned holds, ${due} due to be voided`);
      return 0;
    }
    case 'end':
      return end(command, recovering, context);
  }
}

function statusOf({ service, recovery, unread }: Recovering): string {
  const { noticedAt, databaseAt, ranges } = recovery;
  const of = databaseAt === undefined ? '' : `, database of ${new Date(databaseAt).toISOString()}`;
  const gone = ranges.reduce(
    (sum, { older, from, to, outOfReach }) => sum + (older === 'kafka' ? to - from : outOfReach),
    0,
  );
  const lost = gone === 0 ? '' : `, ${gone} messages that Kafka no longer has`;
  return `${service}: noticed ${new Date(noticedAt).toISOString()}${of}, ${unread} messages to read again${lost}`;
}

async function recoveringIn({ databases }: Context): Promise<Recovering[]> {
  const found: Recovering[] = [];
  for (const { name: service, database, readsLostAgain } of Object.values<ServiceDeclaration>(services)) {
    const mongo = databases.get(database);
    const progress = await mongo?.collection<StoredProgress>(PROGRESS).findOne({ _id: 'progress' });
    if (mongo === undefined || progress?.recovery === undefined) continue;
    // Of what a service only notices, it reads nothing again.
    const unread = readsLostAgain === true ? stillToReplay(progress) : 0;
    found.push({ service, mongo, recovery: progress.recovery, unread });
  }
  return found;
}

async function end(
  { reason, evenIfOpen }: Command & { name: 'end' },
  recovering: readonly Recovering[],
  context: Context,
): Promise<number> {
  const { env, print } = context;
  const unread = recovering.filter((one) => one.unread > 0);
  const open = (await openIn(context)).filter(({ state }) => state !== ASKED_FIRST);
  for (const one of unread) print(statusOf(one));
  if (open.length > 0) print(`${open.length} without a known outcome; npm run recovery -- list shows them`);
  if (unread.length > 0 || (open.length > 0 && !evenIfOpen)) {
    print('The recovery goes on.');
    return 1;
  }
  const subject = recovering.map(({ service }) => service).join(', ');
  const endAll = async (): Promise<void> => {
    for (const { mongo } of recovering) await endRecovery(mongo);
  };
  await recordCommand(env, { action: 'recovery.end', subject }, endAll, () => ({ reason }));
  print('The recovery has ended.');
  return 0;
}

/** What the services still inquire about. Payouts that a bank has, and holds that are open, are normal. */
async function openIn({ databases }: Context): Promise<Open[]> {
  const { cardProcessing, payout } = services;
  return [
    ...(await listed(
      databases.get(cardProcessing.database),
      'payments',
      { 'operations.status': 'pending' },
      operationsOf,
    )),
    ...(await listed(
      databases.get(payout.database),
      'payouts',
      { 'state.kind': { $in: [ASKED_FIRST, 'unknown'] } },
      payoutOf,
    )),
  ];
}

async function openHolds({ databases }: Context): Promise<ListedHold[]> {
  const cards = databases.get(services.cardProcessing.database);
  const expiry = databases.get(services.authExpiry.database);
  if (cards === undefined || expiry === undefined) return [];
  return holdsIn({ cards, expiry }, { now: Date.now(), max: LISTED_MAX });
}

async function listed(
  mongo: MongoConnection | undefined,
  collection: string,
  filter: object,
  read: (document: Record<string, unknown>) => Open[],
): Promise<Open[]> {
  if (mongo === undefined) return [];
  const found = await mongo.collection<Record<string, unknown>>(collection).find(filter).limit(LISTED_MAX).toArray();
  return found.flatMap(read);
}

function operationsOf({ operations }: Record<string, unknown>): Open[] {
  return (operations as { reference: string; type: string; status: string }[])
    .filter(({ status }) => status === 'pending')
    .map(({ reference, type, status }) => ({ kind: type, reference, state: status }));
}

function payoutOf({ _id, state }: Record<string, unknown>): Open[] {
  return [{ kind: 'PAYOUT', reference: String(_id), state: (state as { kind: string }).kind }];
}

if (require.main === module) runCommandLine(runRecovery);
