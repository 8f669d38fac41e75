import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Type } from '@sinclair/typebox';
import { anchorPublicKey, recordCommand } from '@gateway/audit';
import { Secret } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import type { Print } from '@gateway/service-kit';
import {
  commonSettings,
  ConfigurationError,
  explanationOf,
  loadConfig,
  mongoProductionRules,
} from '@gateway/service-kit';
import type { StoredCard } from './card-records';
import { createCardOpener, createCardSeal, ensureCardIndexes } from './card-records';
import { newKey, newKeyPair } from './generate-keys';
import { createOpener } from './hpke';
import { keyProviderSettings } from './key-provider';
import type { Keys } from './keys';
import { PUBLIC_HALF, readKeys } from './keys';
import { openKeyProvider } from './open-key-provider';
import type { KeyCount, Progress, Reencryption } from './reencryption';
import { COUNT_TIMEOUT_MS, createReencryption, TOTAL_MAX } from './reencryption';
import { cardReaderSettings, noDevelopmentKeys, signingReaderSettings } from './settings';

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Two rotations on one day have different ids. */
const ID_SUFFIX_BYTES = 4;

const USAGE = `npm run vault -- COMMAND

  status                    cards under each key, and what reencrypt would do
  reencrypt                 encrypts every card with the first keys of CARD_KEYS and TOKEN_KEYS; may be stopped and
                            continued, and may run beside the services
  rotate SETTING [--id ID]  makes a new key for a setting, and says what to do with it; changes nothing
  anchor-key                AUDIT_ANCHOR_PUBLIC_KEY for npm run audit -- verify, from SIGNING_KEYS, the active key first
Settings: CARD_KEYS, CVV_KEYS, TOKEN_KEYS, ACCOUNT_KEYS, SIGNING_KEYS.
Of every command: --json

status and reencrypt need CARD_KEYS and TOKEN_KEYS, anchor-key SIGNING_KEYS. Only npm start gives them to this command
line; elsewhere run it as a job of its own, with its own access to the database and the keys. reencrypt is audited. Uses the settings of the last
npm start, or MONGODB_URI, DATABASE_PREFIX, CARD_KEYS, TOKEN_KEYS, IDENTITY_TOKEN, CALLERS_FILE.`;

const { NODE_ENV, MONGODB_URI, DATABASE_PREFIX } = commonSettings;
const settings = Type.Object({ NODE_ENV, MONGODB_URI, DATABASE_PREFIX, ...cardReaderSettings });
const anchorKeySettings = Type.Object({
  NODE_ENV,
  ...keyProviderSettings,
  SIGNING_KEYS: signingReaderSettings.SIGNING_KEYS,
});

/** Where the keys of a setting go. `removal`: what ends with the old key. */
const ROTATED: Record<string, { holders: string; publicHolder?: string; then: string; removal?: string }> = {
  CARD_KEYS: {
    holders: 'card-processing, threeds and this job',
    publicHolder: 'api-edge',
    then: 'npm run vault -- reencrypt',
  },
  CVV_KEYS: { holders: 'card-processing', publicHolder: 'api-edge', then: 'wait for 30 minutes' },
  TOKEN_KEYS: {
    holders: 'api-edge, card-processing, threeds and this job',
    // The keys of security codes are sealed under it, and are needed as long as with CVV_KEYS.
    then: 'npm run vault -- reencrypt, and wait for 30 minutes',
    removal:
      'Payout receivers that were not paid after step 2 then count as new: payouts above the amount of\n   --payout-first-receiver end as FRAUDED. docs/runbook.md, "Keys", says what to do before.',
  },
  ACCOUNT_KEYS: {
    holders: 'api-edge, callback-dispatcher and npm run merchant',
    then: 'npm run merchant -- reencrypt, with SIGNING_KEYS',
  },
  SIGNING_KEYS: {
    holders: 'callback-dispatcher',
    publicHolder: 'npm run merchant',
    then: 'npm run merchant -- reencrypt, with SIGNING_KEYS; and npm run vault -- anchor-key, for npm run audit -- verify',
  },
};

class UsageError extends Error {}

export interface CommandLineIo {
  env: Record<string, string | undefined>;
  out: Print;
  err: Print;
  /** Stops reencrypt after its current batch. */
  signal?: AbortSignal;
}

/** Runs one command. @returns the exit code: 0, 1 if it failed or was stopped, 2 for wrong usage */
export async function main(args: string[], io: CommandLineIo): Promise<number> {
  try {
    const { positionals, values } = readArguments(args);
    const [command, setting, ...rest] = positionals;
    const json = values.json === true;
    if (values.help === true || command === 'help') {
      io.out(USAGE);
      return EXIT_OK;
    }
    if (command === 'rotate' && rest.length === 0) return await rotate(setting, values.id, json, io);
    if (setting === undefined && command === 'anchor-key') return await anchorKey(json, io);
    if (setting === undefined && command === 'status')
      return await withCards(io.env, (cards) => status(cards, json, io));
    if (setting === undefined && command === 'reencrypt') {
      return await withCards(io.env, (cards) => reencrypt(cards, json, io));
    }
    throw new UsageError(`There is no such command; "npm run vault -- help" lists them.`);
  } catch (error) {
    io.err(explanationOf(error));
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

function readArguments(args: string[]) {
  try {
    const options = {
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      id: { type: 'string' },
    } as const;
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(explanationOf(error), { cause: error });
  }
}

interface Cards {
  reencryption: Reencryption;
  cardKeys: Keys;
  tokenKeys: Keys;
}

async function withCards(env: CommandLineIo['env'], work: (cards: Cards) => Promise<number>): Promise<number> {
  const config = loadConfig(settings, env, [noDevelopmentKeys, ...mongoProductionRules]);
  const { CARD_KEYS: cardKeys, TOKEN_KEYS: tokenKeys } = await readKeys(config, ['CARD_KEYS', 'TOKEN_KEYS']);
  const connection = await connectMongo({
    uri: config.MONGODB_URI,
    database: `${config.DATABASE_PREFIX}vault`,
    longestCallMs: COUNT_TIMEOUT_MS,
  });
  try {
    const cards = connection.collection<StoredCard>('cards');
    await ensureCardIndexes(cards);
    const opener = createOpener(cardKeys, 'card');
    const reencryption = createReencryption({
      cards,
      seal: createCardSeal(opener.sealer, tokenKeys.active),
      open: createCardOpener(opener, tokenKeys),
    });
    return await work({ reencryption, cardKeys, tokenKeys });
  } finally {
    await connection.close();
  }
}

async function status({ reencryption, cardKeys, tokenKeys }: Cards, json: boolean, { out }: CommandLineIo) {
  const counts = await reencryption.count();
  const report = {
    cards: sum(counts),
    CARD_KEYS: perKey(cardKeys, counts, ({ keyId }) => keyId),
    TOKEN_KEYS: perKey(tokenKeys, counts, ({ tokenKeyId }) => tokenKeyId),
    toReencrypt: sum(
      counts.filter((one) => one.keyId !== cardKeys.active.id || one.tokenKeyId !== tokenKeys.active.id),
    ),
  };
  if (json) out(JSON.stringify(report, undefined, 2));
  else {
    for (const setting of ['CARD_KEYS', 'TOKEN_KEYS'] as const) {
      out(setting);
      for (const { id, cards, use } of report[setting]) out(`  ${id.padEnd(32)} ${String(cards).padStart(12)}  ${use}`);
    }
    out(`cards: ${report.cards}, to encrypt again: ${report.toReencrypt}`);
  }
  return EXIT_OK;
}

/** The keys of the setting, then those that records need and that are not in it. */
function perKey(keys: Keys, counts: readonly KeyCount[], idOf: (count: KeyCount) => string) {
  const known = keys.all.map(({ id }) => id);
  const missing = [...new Set(counts.map(idOf))].filter((id) => !known.includes(id));
  return [...known, ...missing].map((id) => {
    const cards = sum(counts.filter((count) => idOf(count) === id));
    const old = cards === 0 ? 'may be removed' : 'old';
    return { id, cards, use: missing.includes(id) ? 'MISSING' : id === keys.active.id ? 'active' : old };
  });
}

function sum(counts: readonly KeyCount[]): number {
  return counts.reduce((total, { cards }) => total + cards, 0);
}

async function reencrypt({ reencryption }: Cards, json: boolean, io: CommandLineIo): Promise<number> {
  const { env, out, err, signal } = io;
  const onProgress = ({ reencrypted, failed, total }: Progress): void =>
    err(`${reencrypted + failed} of ${total === TOTAL_MAX ? 'at least ' : ''}${total} cards`);
  const result = await recordCommand(
    env,
    { action: 'vault.reencrypt', subject: 'all cards' },
    () => reencryption.run({ onProgress, ...(signal === undefined ? {} : { signal }) }),
    ({ reencrypted: done, failed: lost, stopped: early }) => ({ reencrypted: done, failed: lost, stopped: early }),
  );
  const { reencrypted, failed, stopped, failures } = result;
  if (json) out(JSON.stringify(result, undefined, 2));
  else out(`cards encrypted again: ${reencrypted}${failed > 0 ? `, failed: ${failed}` : ''}`);
  for (const failure of failures) err(failure);
  if (stopped) err('Stopped before the end; run it again to continue.');
  return failed > 0 || stopped ? EXIT_FAILED : EXIT_OK;
}

/** Both keys of a rotation: anchors under the old one are in the logs already. */
async function anchorKey(json: boolean, { env, out }: CommandLineIo): Promise<number> {
  const { SIGNING_KEYS: keys } = await readKeys(loadConfig(anchorKeySettings, env, [noDevelopmentKeys]), [
    'SIGNING_KEYS',
  ]);
  const text = keys.all.map(({ key }) => anchorPublicKey(key)).join(',');
  out(json ? JSON.stringify({ AUDIT_ANCHOR_PUBLIC_KEY: text }, undefined, 2) : text);
  return EXIT_OK;
}

/** The key is printed here and kept nowhere. */
async function rotate(
  setting: string | undefined,
  given: string | undefined,
  json: boolean,
  { env, out }: CommandLineIo,
): Promise<number> {
  const rotated = setting === undefined ? undefined : ROTATED[setting];
  if (rotated === undefined || setting === undefined) {
    throw new UsageError(`rotate takes one of these settings: ${Object.keys(ROTATED).join(', ')}.`);
  }
  const id = given ?? newId();
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) throw new ConfigurationError('An id has 1 to 32 letters, digits, _ or -.');
  const { holders, publicHolder, then, removal } = rotated;
  const publicKey = PUBLIC_HALF[setting];
  const pair = publicKey === undefined ? { privateKey: newKey(id) } : newKeyPair(id);
  const entry = await wrapped(env, setting, pair.privateKey);
  const publicHalf = publicKey !== undefined && 'publicKey' in pair ? { [publicKey]: pair.publicKey } : {};
  if (json) {
    out(JSON.stringify({ [setting]: entry, ...publicHalf }, undefined, 2));
    return EXIT_OK;
  }
  const set = Object.entries(publicHalf).map(
    ([name, value]) => `, and set at ${publicHolder ?? holders}:\n   ${name}=${value}`,
  );
  out(`1. Append this key to ${setting} of ${holders}. It is shown once:
   ${entry}
2. When all of them have it, move it to the front everywhere${set.join('')}
3. ${then}
4. Remove the old key from ${setting}.${removal === undefined ? '' : ` ${removal}`}`);
  return EXIT_OK;
}

/** The date, for people, and random hex digits. */
function newId(): string {
  return `${new Date().toISOString().slice(0, 10)}-${randomBytes(ID_SUFFIX_BYTES).toString('hex')}`;
}

/** The entry as the provider keeps it. */
async function wrapped(env: CommandLineIo['env'], setting: string, entry: string): Promise<string> {
  const provider = await openKeyProvider(loadConfig(Type.Object(keyProviderSettings), env));
  try {
    const [id = '', key = ''] = entry.split(':');
    const bytes = await provider.wrap({ setting, id }, new Secret(Buffer.from(key, 'base64')));
    return `${id}:${bytes.toString('base64')}`;
  } finally {
    provider.close();
  }
}
