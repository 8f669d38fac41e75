import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { hasRightCheckDigits } from '@gateway/contracts';
import { ConfigurationError, loadConfig } from '@gateway/service-kit';
import type { CutOffs } from '../../../domain/iso20022/cut-offs';
import type { SettledBy } from '../../../domain/iso20022/booking';
import { parseCutOffs } from '../../../domain/iso20022/cut-offs';
import { sepaText } from '../../../domain/iso20022/sepa-text';

const PARTY_NAME_LENGTH = 70;

/** The contracts limit amounts to 99,999,999,999, so the sum of this many is a safe integer. */
export const MAX_PAYOUTS_PER_FILE = 10_000;

export const settings = Type.Object({
  ISO20022_OUTBOX_DIR: Type.String({
    minLength: 1,
    description: 'Directory of pain.001 files for the bank, on one file system with its folder `.staged`',
  }),
  ISO20022_INBOX_DIR: Type.String({
    minLength: 1,
    description: "Directory of the bank's reports (pain.002, camt.053, camt.054, pacs.004)",
  }),
  ISO20022_DEBTORS: Type.String({ minLength: 1, description: 'Path of the JSON file that lists the debtor accounts' }),
  ISO20022_INITIATING_PARTY: Type.String({
    minLength: 1,
    maxLength: PARTY_NAME_LENGTH,
    description: 'Name in the group header of each file, in SEPA characters',
  }),
  ISO20022_CUT_OFF: Type.String({
    default: '60m',
    description:
      'When batches are cut: times of day in UTC (`08:00,14:30`) or minutes counted from midnight UTC (`30m`)',
  }),
  ISO20022_FILE_PAYOUTS: Type.Integer({
    minimum: 1,
    maximum: MAX_PAYOUTS_PER_FILE,
    default: MAX_PAYOUTS_PER_FILE,
    description: 'Payouts in one file at most; some banks accept fewer',
  }),
  ISO20022_POLL_MS: Type.Integer({
    minimum: 20,
    maximum: 60_000,
    default: 1_000,
    description: 'Pause between two checks of cut-offs and inbox',
  }),
  ISO20022_OUTCOME_DAYS: Type.Integer({
    minimum: 1,
    maximum: 30,
    default: 3,
    description:
      'Days from Monday to Friday within which the bank reports how each payout of a file ended; later ones are overdue, and an alert says so',
  }),
});

const SETTLED_BY = ['status', 'booking', 'either'] as const satisfies SettledBy[];

const DebtorsFile = Type.Array(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: PARTY_NAME_LENGTH }),
      iban: Type.String(),
      bic: Type.Optional(Type.String({ pattern: '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$' })),
      settledBy: Type.Optional(Type.Union(SETTLED_BY.map((name) => Type.Literal(name)))),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
);

/** One of our accounts, from which payouts are paid. */
export interface Debtor {
  name: string;
  iban: string;
  bic?: string;
}

export interface Iso20022Settings {
  outboxDir: string;
  inboxDir: string;
  initiatingParty: string;
  cutOffs: CutOffs;
  payoutsPerFile: number;
  pollMs: number;
  /** Days from Monday to Friday. */
  outcomeDays: number;
  /** By IBAN; undefined if the file does not list it. */
  debtorOf(iban: string): Debtor | undefined;
  /** Which report of its bank says that a payout is paid. */
  settledByOf(iban: string): SettledBy;
}

/** Throws {@link ConfigurationError}, also for mistakes in the debtors' file. */
export function loadSettings(env: Record<string, string | undefined>): Iso20022Settings {
  const values = loadConfig(settings, env);
  const cutOffs = parseCutOffs(values.ISO20022_CUT_OFF);
  const { debtorOf, settledByOf, problems } = readDebtors(values.ISO20022_DEBTORS);
  if (cutOffs === undefined) problems.push('ISO20022_CUT_OFF is neither HH:MM,HH:MM nor a number of minutes like 30m');
  if (!isSepaText(values.ISO20022_INITIATING_PARTY)) problems.push(notSepaText('ISO20022_INITIATING_PARTY'));
  if (cutOffs === undefined || debtorOf === undefined || settledByOf === undefined || problems.length > 0) {
    throw new ConfigurationError(`Configuration: ${problems.join('; ')}.`);
  }
  return {
    outboxDir: values.ISO20022_OUTBOX_DIR,
    inboxDir: values.ISO20022_INBOX_DIR,
    initiatingParty: values.ISO20022_INITIATING_PARTY,
    cutOffs,
    payoutsPerFile: values.ISO20022_FILE_PAYOUTS,
    pollMs: values.ISO20022_POLL_MS,
    outcomeDays: values.ISO20022_OUTCOME_DAYS,
    debtorOf,
    settledByOf,
  };
}

function readDebtors(
  path: string,
): Partial<Pick<Iso20022Settings, 'debtorOf' | 'settledByOf'>> & { problems: string[] } {
  const file = parseJson(path);
  if (file instanceof Error) return { problems: [`ISO20022_DEBTORS: ${path}: ${file.message}`] };
  if (!Value.Check(DebtorsFile, file)) {
    const problems = [...Value.Errors(DebtorsFile, file)].map(({ path: at, message }) => `${path} ${at} ${message}`);
    return { problems };
  }
  const problems = file.flatMap(({ name, iban }) => [
    ...(isSepaText(name) ? [] : [notSepaText(`${path}: ${name}`)]),
    ...(hasRightCheckDigits(iban) ? [] : [`${path}: ${iban} has wrong check digits`]),
  ]);
  // Kept with each payout, and compared: what may be set anew tomorrow is no part of it.
  const byIban = new Map(file.map(({ settledBy: _settledBy, ...debtor }): [string, Debtor] => [debtor.iban, debtor]));
  const settledBy = new Map(file.map((debtor) => [debtor.iban, debtor.settledBy]));
  if (byIban.size < file.length) problems.push(`${path}: an IBAN comes twice`);
  return { problems, debtorOf: (iban) => byIban.get(iban), settledByOf: (iban) => settledBy.get(iban) ?? 'either' };
}

/** Returns an Error if the file cannot be read. */
function parseJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return error;
  }
}

function isSepaText(text: string): boolean {
  return sepaText(text, PARTY_NAME_LENGTH) === text;
}

function notSepaText(what: string): string {
  return `${what} is not in the characters of SEPA`;
}
