import { Type } from '@sinclair/typebox';
import { recordCommand } from '@gateway/audit';
import { DEAD_LETTER_RETENTION_DAYS, topics } from '@gateway/contracts';
import type { Ask, Print } from '@gateway/service-kit';
import { commonSettings, explanationOf, loadConfig, mongoProductionRules } from '@gateway/service-kit';
import { openDatabases } from './databases';
import type { Erasure } from './erase';
import { erase } from './erase';
import type { Person, Selector } from './person';
import { personBy, SELECTORS } from './person';

const DAY_MS = 86_400_000;
const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const QUESTIONS: Record<Selector, string> = {
  holder: 'Name of the card holder, as on the card or first and last name',
  email: 'E-mail address of the card holder',
  iban: 'IBAN of the receiver',
  receiver: 'Name of the receiver',
  reference: 'Reference of the payment or payout',
};

const USAGE = `usage: npm run privacy -- erase ${SELECTORS.join('|')}
Erases the data of a person from payments, payouts, callbacks and the vault. What accounting needs stays, without the
person. Asks for the name, IBAN, … and reads it without showing it, from a pipe too, so no shell history gets it.
What is under way, or ended less than a day ago, is left as it is: run it again later.
Uses the settings of the last npm start, or MONGODB_URI, DATABASE_PREFIX, IDENTITY_TOKEN, CALLERS_FILE.`;

const { NODE_ENV, MONGODB_URI, DATABASE_PREFIX } = commonSettings;
const settings = Type.Object({ NODE_ENV, MONGODB_URI, DATABASE_PREFIX });

export interface CommandLineIo {
  env: Record<string, string | undefined>;
  ask: Ask;
  print: Print;
}

/** Runs one command. @returns the exit code: 0, 1 if it failed, 2 for wrong usage. */
export async function runCli(args: readonly string[], { env, ask, print }: CommandLineIo): Promise<number> {
  const [name, by, ...rest] = args;
  const selector = SELECTORS.find((one) => one === by);
  if (name !== 'erase' || selector === undefined || rest.length > 0) {
    if (args.length > 0 && name !== 'help') print('Wrong arguments.');
    print(USAGE);
    return name === 'help' ? EXIT_OK : EXIT_USAGE;
  }
  try {
    const erasure = await eraseAudited(personBy(selector, await ask(QUESTIONS[selector])), env);
    for (const line of linesOf(erasure)) print(line);
    return EXIT_OK;
  } catch (error) {
    print(`erase failed: ${explanationOf(error)}`);
    return EXIT_FAILED;
  }
}

/** The audit log says that, when and by whom something was erased, and not about whom. */
async function eraseAudited(person: Person, env: CommandLineIo['env']): Promise<Erasure> {
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = loadConfig(settings, env, mongoProductionRules);
  const subject = person.by === 'reference' ? person.value : `a person, by ${person.by}`;
  const databases = await openDatabases({ uri, databasePrefix });
  try {
    return await recordCommand(
      env,
      { action: 'privacy.erase', subject },
      async (audit) => erase(databases, person, await audit.now()),
      (erasure) => ({ ...erasure }),
    );
  } finally {
    await databases.close();
  }
}

function linesOf({ more, underWay, ...erased }: Erasure): string[] {
  const { payments, payouts, callbacks, journalEntries, cards } = erased;
  const commandDays = topics.cardCommands.retentionMs / DAY_MS;
  return [
    `erased from: ${payments} payments, ${payouts} payouts, ${callbacks} callbacks, ${journalEntries} journal entries`,
    `removed: ${cards} cards`,
    ...(underWay === 0 ? [] : [`under way, so kept for now: ${underWay}; run it again later`]),
    ...(more ? ['there are more: run it again'] : []),
    `Topics cannot be erased: commands are gone after ${commandDays} days, dead letters after ${DEAD_LETTER_RETENTION_DAYS} unless DEAD_LETTER_RETENTION_DAYS says otherwise.`,
  ];
}
