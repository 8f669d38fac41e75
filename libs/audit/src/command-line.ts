import { Type } from '@sinclair/typebox';
import type { Print } from '@gateway/service-kit';
import { explanationOf, loadConfig, parseOptions } from '@gateway/service-kit';
import { ACTIONS } from './actions';
import { readAnchors } from './anchors';
import type { EntryQuery } from './audit-log';
import type { Entry } from './entry';
import type { OpenAudit } from './open-audit';
import { openAuditFrom } from './open-audit';
import { AUDIT_RETENTION, auditSettings } from './settings';
import type { Anchor } from './verify';
import { verifyEntries } from './verify';

export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 500;
const DAY_MS = 86_400_000;
const OPEN_SHOWN = 20;

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const USAGE = `usage: npm run audit -- list [--operator NAME] [--action ACTION] [--subject SUBJECT]
                             [--since TIME] [--until TIME] [--limit N] [--before SEQUENCE]
                                       newest first, at most ${LIST_LIMIT_MAX}; ${LIST_LIMIT_DEFAULT} unless given
       npm run audit -- check          checks that no entry was changed, removed or moved, that none is removed before
                                       AUDIT_RETENTION_DAYS, and prints the last one's hash; cannot see a removed end
       npm run audit -- verify --anchors FILE | --expect SEQUENCE:HASH
                                       checks that and, with anchors from outside the database, the end. FILE has log
                                       lines of the services; - is standard input. SEQUENCE:HASH was printed earlier.
                                       Fails without an anchor
Times are RFC 3339 or dates (UTC). Actions: ${ACTIONS.join(', ')}.
Uses the settings of the last npm start, or MONGODB_URI, DATABASE_PREFIX and, for check and verify,
AUDIT_RETENTION_DAYS.`;

const COLUMNS = [
  'sequence',
  'time',
  'operator',
  'from',
  'database user',
  'action',
  'subject',
  'phase',
  'before',
  'after',
];

type Command =
  { name: 'list'; query: EntryQuery } | { name: 'check' } | { name: 'verify'; expected?: Anchor; anchors?: string };

/** The command in the arguments; undefined if they are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'check') return rest.length === 0 ? { name } : undefined;
  if (name === 'verify') {
    const options = parseOptions(rest, ['expect', 'anchors']);
    const expected = anchorOf(options?.['expect']);
    if (options === undefined || (options['expect'] !== undefined && expected === undefined)) return undefined;
    const { anchors } = options;
    return { name, ...(expected && { expected }), ...(anchors !== undefined && { anchors }) };
  }
  const options = name === 'list' ? parseOptions(rest, LIST_OPTIONS) : undefined;
  const query = options && queryOf(options);
  return query && { name: 'list', query };
}

const LIST_OPTIONS = ['operator', 'action', 'subject', 'since', 'until', 'limit', 'before'];

function queryOf({ since, until, limit, before, ...equal }: Record<string, string>): EntryQuery | undefined {
  const query: Record<string, number | undefined> = {
    limit: wholeNumber(limit ?? String(LIST_LIMIT_DEFAULT), LIST_LIMIT_MAX),
    ...(since !== undefined && { since: timeOf(since) }),
    ...(until !== undefined && { until: timeOf(until) }),
    ...(before !== undefined && { before: wholeNumber(before, Number.MAX_SAFE_INTEGER) }),
  };
  if (equal['action'] !== undefined && !(ACTIONS as string[]).includes(equal['action'])) return undefined;
  if (Object.values(query).includes(undefined)) return undefined;
  return { ...equal, ...query } as unknown as EntryQuery;
}

function wholeNumber(text: string, max: number): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

/** Epoch ms. */
function timeOf(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const ms = isTime ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function anchorOf(text = ''): Anchor | undefined {
  const [, sequence = '', hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return hash === '' ? undefined : { sequence: Number(sequence), hash };
}

/** Runs one command. @returns the exit code: 0, 1 if it failed or the log was tampered with, 2 for wrong usage. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string | undefined>,
  print: Print,
): Promise<number> {
  const command = args[0] === 'help' ? undefined : parseArguments(args);
  if (command === undefined) {
    if (args.length > 0 && args[0] !== 'help') print(`Wrong arguments: ${args.join(' ')}`);
    print(USAGE);
    return args[0] === 'help' ? EXIT_OK : EXIT_USAGE;
  }
  try {
    const audit = await openAuditFrom(env);
    try {
      if (command.name !== 'list') {
        const { AUDIT_RETENTION_DAYS: retentionDays = AUDIT_RETENTION.days } = loadConfig(
          Type.Object(auditSettings),
          env,
        );
        return await check(audit, { retentionDays, anchors: await anchorsOf(command) }, print);
      }
      await list(audit, command.query, print);
      return EXIT_OK;
    } finally {
      await audit.close();
    }
  } catch (error) {
    print(`${command.name} failed: ${explanationOf(error)}`);
    return EXIT_FAILED;
  }
}

async function list(audit: OpenAudit, query: EntryQuery, print: Print): Promise<void> {
  const entries = await audit.list(query);
  if (entries.length > 0) print(COLUMNS.join('\t'));
  for (const entry of entries) print(lineOf(entry));
  print(`${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`);
  if (entries.length === query.limit) print(`more: --before ${entries.at(-1)?.sequence}`);
}

function lineOf(entry: Entry): string {
  const { sequence, at, operator, from, databaseUser = '-', action, subject, phase, intent, before, after } = entry;
  const fields = [before, after].map((value) => (value === undefined ? '-' : JSON.stringify(value)));
  const of = intent === undefined ? phase : `${phase} (of ${intent})`;
  const columns = [sequence, new Date(at).toISOString(), operator, from, databaseUser, action, subject, of, ...fields];
  return columns.map(printable).join('\t');
}

/** Whatever is stored: an entry is one line, and a column is one column. */
function printable(column: string | number): string {
  return String(column).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Undefined if the command needs none. */
async function anchorsOf(command: Exclude<Command, { name: 'list' }>): Promise<Anchor[] | undefined> {
  if (command.name === 'check') return undefined;
  const { expected, anchors } = command;
  return [...(expected === undefined ? [] : [expected]), ...(anchors === undefined ? [] : await readAnchors(anchors))];
}

async function check(
  audit: OpenAudit,
  { retentionDays, anchors }: { retentionDays: number; anchors: Anchor[] | undefined },
  print: Print,
): Promise<number> {
  const keptSince = (await audit.now()) - retentionDays * DAY_MS;
  const { count, head, problems: found, open } = await verifyEntries(audit.entries(), { anchors, keptSince });
  const problems = [...problemsOfRetention(await audit.retentionDays(), retentionDays), ...found];
  if (open.length > 0) {
    const shown = open.slice(0, OPEN_SHOWN).join(', ');
    print(`without an outcome, so they may have taken effect or not: ${shown}${open.length > OPEN_SHOWN ? ', …' : ''}`);
  }
  for (const problem of problems) print(`tampered with: ${problem}`);
  print(`${count} ${count === 1 ? 'entry' : 'entries'}${head ? `, head ${head.sequence}:${head.hash}` : ''}`);
  const isBlind = anchors?.length === 0;
  if (isBlind) print('not verified: there is no anchor, so nobody can tell whether the end of the log is missing');
  return problems.length === 0 && !isBlind ? EXIT_OK : EXIT_FAILED;
}

/** Whoever may change the index can empty the log with it. */
function problemsOfRetention(actual: number | undefined, expected: number): string[] {
  if (actual === expected) return [];
  const removed = actual === undefined ? 'never removes entries' : `removes entries after ${actual} days`;
  return [`the database ${removed}, but AUDIT_RETENTION_DAYS is ${expected}`];
}
