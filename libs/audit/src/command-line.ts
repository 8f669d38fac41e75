import { Type } from '@sinclair/typebox';
import type { Print } from '@gateway/service-kit';
import { explanationOf, loadConfig, parseOptions } from '@gateway/service-kit';
import { ACTIONS } from './actions';
import { anchorPublicKeysOf } from './anchor-signature';
import type { LoggedAnchor } from './anchors';
import { judgeAnchors, readAnchors } from './anchors';
import type { EntryQuery } from './audit-log';
import type { Entry } from './entry';
import type { OpenAudit } from './open-audit';
import { openAuditFrom } from './open-audit';
import { anchorSettings, AUDIT_RETENTION, auditSettings } from './settings';
import type { Anchor } from './verify';
import { newestOf, verifyEntries } from './verify';

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
       npm run audit -- verify --anchors FILE [--unsigned] | --expect SEQUENCE:HASH
                                       checks that and, with anchors from outside the database, the end. FILE has log
                                       lines of the services; - is standard input. SEQUENCE:HASH was printed earlier.
                                       Fails without one of these or a line that is signed under
                                       AUDIT_ANCHOR_PUBLIC_KEY. --unsigned takes lines without a signature, such as
                                       those of earlier releases
Times are RFC 3339 or dates (UTC). Actions: ${ACTIONS.join(', ')}.
Uses the settings of the last npm start, or MONGODB_URI, DATABASE_PREFIX and, for check and verify,
AUDIT_RETENTION_DAYS. verify also needs AUDIT_ANCHOR_PUBLIC_KEY: npm run vault -- anchor-key prints it.`;

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
  | { name: 'list'; query: EntryQuery }
  | { name: 'check' }
  | { name: 'verify'; expected?: Anchor; anchors?: string; takesUnsigned: boolean };

/** The command in the arguments; undefined if they are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'check') return rest.length === 0 ? { name } : undefined;
  if (name === 'verify') {
    const takesUnsigned = rest.includes(UNSIGNED);
    const options = parseOptions(
      rest.filter((arg) => arg !== UNSIGNED),
      ['expect', 'anchors'],
    );
    const expected = anchorOf(options?.['expect']);
    if (options === undefined || (options['expect'] !== undefined && expected === undefined)) return undefined;
    const { anchors } = options;
    return { name, takesUnsigned, ...(expected && { expected }), ...(anchors !== undefined && { anchors }) };
  }
  const options = name === 'list' ? parseOptions(rest, LIST_OPTIONS) : undefined;
  const query = options && queryOf(options);
  return query && { name: 'list', query };
}

const UNSIGNED = '--unsigned';
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
        const evidence = command.name === 'verify' ? await evidenceOf(command, env) : undefined;
        return await check(audit, { retentionDays, evidence }, print);
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

/** What says where the log must not end before. */
interface Evidence {
  readonly anchors: readonly Anchor[];
  readonly proofs: readonly LoggedAnchor[];
  readonly problems: readonly string[];
  /** What is missing if there is no proof. */
  readonly lacking: string;
}

/** A head that somebody has noted needs no signature: who verifies has it from them. */
async function evidenceOf(
  { expected, anchors: file, takesUnsigned }: Extract<Command, { name: 'verify' }>,
  env: Record<string, string | undefined>,
): Promise<Evidence> {
  const { AUDIT_ANCHOR_PUBLIC_KEY: keys } = loadConfig(Type.Object(anchorSettings), env);
  const publicKeys = keys === undefined ? undefined : anchorPublicKeysOf(keys);
  const logged = file === undefined ? [] : await readAnchors(file);
  const { credible, proofs, problems } = judgeAnchors(logged, { publicKeys, takesUnsigned });
  const noted = expected === undefined ? [] : [expected];
  const lacking =
    keys === undefined && logged.length > 0
      ? 'AUDIT_ANCHOR_PUBLIC_KEY is not set, so there is no signed anchor'
      : `there is no ${logged.length > 0 ? 'signed ' : ''}anchor`;
  return { anchors: [...noted, ...credible], proofs: [...noted, ...proofs], problems, lacking };
}

async function check(
  audit: OpenAudit,
  { retentionDays, evidence }: { retentionDays: number; evidence: Evidence | undefined },
  print: Print,
): Promise<number> {
  const keptSince = (await audit.now()) - retentionDays * DAY_MS;
  const { count, head, problems: found, open } = await verifyEntries(audit.entries(), { ...evidence, keptSince });
  const ofRetention = problemsOfRetention(await audit.retentionDays(), retentionDays);
  const problems = [...ofRetention, ...(evidence?.problems ?? []), ...found];
  if (open.length > 0) {
    const shown = open.slice(0, OPEN_SHOWN).join(', ');
    print(`without an outcome, so they may have taken effect or not: ${shown}${open.length > OPEN_SHOWN ? ', …' : ''}`);
  }
  for (const problem of problems) print(`tampered with: ${problem}`);
  print(`${count} ${count === 1 ? 'entry' : 'entries'}${head ? `, head ${head.sequence}:${head.hash}` : ''}`);
  const isBlind = evidence?.proofs.length === 0;
  if (isBlind) print(`not verified: ${evidence.lacking}, so nobody can tell whether the end of the log is missing`);
  const newest = evidence && newestOf(evidence.proofs);
  if (newest !== undefined) print(`newest anchor: entry ${newest.sequence}${timeOfAnchor(newest)}`);
  return problems.length === 0 && !isBlind ? EXIT_OK : EXIT_FAILED;
}

/** An old one says nothing of what came after it. Only a checked signature makes the time true. */
function timeOfAnchor({ signed }: LoggedAnchor): string {
  return signed === undefined ? ', unsigned' : `, signed at ${printable(signed.anchoredAt)}`;
}

/** Whoever may change the index can empty the log with it. */
function problemsOfRetention(actual: number | undefined, expected: number): string[] {
  if (actual === expected) return [];
  const removed = actual === undefined ? 'never removes entries' : `removes entries after ${actual} days`;
  return [`the database ${removed}, but AUDIT_RETENTION_DAYS is ${expected}`];
}
