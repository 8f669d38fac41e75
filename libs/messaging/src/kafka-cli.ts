import { recordCommand } from '@gateway/audit';
import type { Print } from '@gateway/service-kit';
import { parseOptions, runCommandLine } from '@gateway/service-kit';
import { applyAccess, neededAccess } from './acls';
import type { KafkaCommandContext } from './kafka-commands';
import { runKafkaCommand, SETTINGS_USAGE } from './kafka-commands';
import { PUBLISHER_LIMITS } from './publisher';
import { growTopics, listTopics } from './topics';

/** Per topic. Three brokers cope with a few thousand partitions in total. */
const MAX_PARTITIONS = 500;
const USER = '{user}';
const USAGE = `usage: npm run kafka -- topics                     partitions, replicas, and what is not in sync
       npm run kafka -- grow --partitions N        N partitions for every topic but dead letters; at most ${MAX_PARTITIONS}
       npm run kafka -- acls [--principal NAME]    what each service and command line may do
       npm run kafka -- acls --apply [--principal NAME]
                                                   adds what is missing; only a super user of the cluster can
"npm run provision" creates topics. Read docs/runbook.md before growing: Kafka cannot remove partitions.
NAME is what Kafka calls a user, ${USER} in it the user's name here: User:${USER} unless given.
${SETTINGS_USAGE}`;

type Command =
  { name: 'topics' } | { name: 'grow'; partitions: number } | { name: 'acls'; apply: boolean; principal: string };

/** Undefined if the arguments are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'topics') return rest.length === 0 ? { name } : undefined;
  if (name === 'grow') return parseGrow(rest);
  return name === 'acls' ? parseAcls(rest) : undefined;
}

function parseGrow([option, value = '', ...rest]: readonly string[]): Command | undefined {
  if (option !== '--partitions' || rest.length > 0 || !/^\d{1,4}$/.test(value)) return undefined;
  const partitions = Number(value);
  return partitions >= 1 && partitions <= MAX_PARTITIONS ? { name: 'grow', partitions } : undefined;
}

function parseAcls(args: readonly string[]): Command | undefined {
  const apply = args[0] === '--apply';
  const options = parseOptions(apply ? args.slice(1) : args, ['principal']);
  if (options === undefined) return undefined;
  const { principal = `User:${USER}` } = options;
  return /^\w+:/.test(principal) && principal.includes(USER) ? { name: 'acls', apply, principal } : undefined;
}

/** Runs one command. @returns the exit code, see {@link runKafkaCommand}. */
export function runKafkaCli(args: readonly string[], env: NodeJS.ProcessEnv, print: Print): Promise<number> {
  return runKafkaCommand({ clientId: 'kafka', usage: USAGE, parse: parseArguments, execute }, args, env, print);
}

async function execute(command: Command, context: KafkaCommandContext): Promise<void> {
  switch (command.name) {
    case 'topics':
      return list(context);
    case 'grow':
      return grow(context, command.partitions);
    case 'acls':
      return acls(context, command);
  }
}

async function list({ kafka, topicPrefix: prefix, print }: KafkaCommandContext): Promise<void> {
  print(['topic', 'partitions', 'replicas', 'not in sync'].join('\t'));
  for (const { name, partitions, replicationFactor, underReplicated } of await listTopics({ kafka, prefix })) {
    print([name, partitions, replicationFactor, underReplicated].join('\t'));
  }
}

async function grow(context: KafkaCommandContext, partitions: number): Promise<void> {
  const { kafka, topicPrefix: prefix, env, print } = context;
  const grown = await recordCommand(
    env,
    { action: 'topics.grow', subject: 'all topics but dead letters' },
    () => growTopics({ kafka, prefix, partitions }),
    (topics) => ({ partitions, topics }),
  );
  for (const name of grown) print(`${name} has ${partitions} partitions`);
  if (grown.length === 0) print(`every topic has ${partitions} partitions already`);
  else print(`Start and restart no service in the next ${PUBLISHER_LIMITS.newPartitionsAfterMs / 60_000 + 1} minutes.`);
}

async function acls(
  { kafka, topicPrefix, print }: KafkaCommandContext,
  { apply, principal }: Extract<Command, { name: 'acls' }>,
): Promise<void> {
  const principalOf = (user: string): string => principal.replaceAll(USER, user);
  const needed = neededAccess(topicPrefix);
  const access = apply ? await applyAccess({ kafka, access: needed, principalOf }) : needed;
  for (const { user, operation, resource, name } of access) {
    print([principalOf(user), operation, resource, name].join('\t'));
  }
  if (apply) print(`${access.length} of ${needed.length} added`);
}

if (require.main === module) runCommandLine(runKafkaCli);
