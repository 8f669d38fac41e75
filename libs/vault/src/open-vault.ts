import type { CvvKeyIssuedData, Secret } from '@gateway/contracts';
import type { Collection, DatabaseAddress } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { HeldKeys, Logger } from '@gateway/service-kit';
import type { CardData } from './card-data';
import type { CardReader } from './card-reader';
import { createCardReader } from './card-reader';
import type { StoredCard } from './card-records';
import { ensureCardIndexes } from './card-records';
import type { CardOwner, StoredNumber } from './card-numbers';
import { createCardNumbers, ensureNumberIndexes } from './card-numbers';
import { cardToken, fingerprint, panHash, storageId } from './card-token';
import type { CardWriter } from './card-writer';
import { createCardWriter } from './card-writer';
import type { CvvKeyIssuer, CvvKeyStore } from './cvv-keys';
import { createCvvKeyIssuer, createCvvKeyStore } from './cvv-keys';
import type { CvvReader, CvvWriter, StoredCvv } from './cvvs';
import { createCvvReader, createCvvWriter, ensureCvvIndexes } from './cvvs';
import { createOpener, createSealer } from './hpke';
import type { KeyProviderConfig } from './key-provider';
import type { Keys } from './keys';
import { heldKeysOf } from './held-keys';
import { readKeys } from './keys';

export interface OpenVault<Vault> {
  readonly vault: Vault;
  /** With which it was opened. */
  readonly heldKeys: HeldKeys;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface VaultStorage extends DatabaseAddress {
  databasePrefix: string;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
  logger: Logger;
}

export type VaultWriter = CardWriter & CvvWriter;

export interface VaultReader extends CardReader, CvvReader {
  /** 40 hex characters for `secure_storage_id`. */
  storageId(owner: CardOwner, card: Secret<Pick<CardData, 'pan'>>): string;
  /** Every token that this card may have at this merchant: in each realm, under each key. */
  tokensOf(merchantAccount: string, card: Secret<CardData>): string[];
  /** One for each key of CARD_HASH_KEY, the active one first. */
  readonly countingHashes: readonly CountingHashes[];
}

/** Hashes under one key, by which attempts are counted. */
export interface CountingHashes {
  /** A keyed hash of the number, the same for every merchant. */
  panHash(card: Secret<Pick<CardData, 'pan'>>): string;
  /** A keyed hash (27 characters) that recognizes personal data without keeping it. */
  fingerprint(parts: readonly string[]): string;
}

type Settings<Name extends string> = VaultStorage & KeyProviderConfig & Readonly<Record<Name, string>>;

const WRITER = ['CARD_PUBLIC_KEY', 'CVV_PUBLIC_KEY', 'TOKEN_KEYS'] as const;
const CARD_READER = ['CARD_KEYS', 'TOKEN_KEYS'] as const;
const READER = [...CARD_READER, 'CVV_KEYS', 'CARD_HASH_KEY'] as const;

/*
 * All of these open the database `${databasePrefix}vault`. They throw a ConfigurationError before connecting if a key is
 * invalid. Only one creates the indexes: whoever may create an index that removes old cards may have any card removed.
 */

/** Makes the indexes of the vault. card-processing does so at its start, too. Needs no key. */
export async function ensureVaultIndexes(options: VaultStorage): Promise<void> {
  const opened = await openVault(options, {}, async ({ cards, cvvs, numbers }) => {
    await Promise.all([ensureCardIndexes(cards), ensureCvvIndexes(cvvs), ensureNumberIndexes(numbers)]);
    return {};
  });
  await opened.close();
}

export type VaultWriterOptions = Settings<(typeof WRITER)[number]> & {
  /** Resolves when the message is durable. */
  publishCvvKey: (data: CvvKeyIssuedData) => Promise<void>;
};

/** For the edge: writes cards and CVVs, and cannot read them again. CVVs need a started `cvvKeys`. */
export async function openVaultWriter(
  options: VaultWriterOptions,
): Promise<OpenVault<VaultWriter> & { cvvKeys: Pick<CvvKeyIssuer, 'start' | 'stop' | 'ready'> }> {
  const keys = await readKeys(options, WRITER);
  const { logger, now = Date.now, publishCvvKey: publish } = options;
  const own = { tokenKeys: keys.TOKEN_KEYS, now };
  const cvvKeys = createCvvKeyIssuer({
    ...own,
    sealer: createSealer(keys.CVV_PUBLIC_KEY.active, 'cvv'),
    publish,
    logger,
  });
  const hashKey = keys.TOKEN_KEYS.active.key;
  const opened = await openVault(options, keys, ({ cards, cvvs, ...parts }) => ({
    ...createCardWriter({
      ...own,
      cards,
      numbers: createCardNumbers(parts.numbers, { hashKey, now }),
      sealer: createSealer(keys.CARD_PUBLIC_KEY.active, 'card'),
    }),
    ...createCvvWriter({ cvvs, now, keys: cvvKeys }),
  }));
  return { ...opened, cvvKeys };
}

/** For services that need card numbers and no CVVs. */
export async function openCardReader(options: Settings<(typeof CARD_READER)[number]>): Promise<OpenVault<CardReader>> {
  const keys = await readKeys(options, CARD_READER);
  return openVault(options, keys, (parts) =>
    createCardReader({ ...parts, tokenKeys: keys.TOKEN_KEYS, opener: createOpener(keys.CARD_KEYS, 'card') }),
  );
}

/** For card-processing, which charges cards and creates the indexes. CVVs need a started `cvvKeys` that gets every message of its topic. */
export async function openVaultReader(
  options: Settings<(typeof READER)[number]>,
): Promise<OpenVault<VaultReader> & { cvvKeys: Pick<CvvKeyStore, 'start' | 'stop' | 'accept'> }> {
  const keys = await readKeys(options, READER);
  const { logger, now = Date.now } = options;
  const own = { tokenKeys: keys.TOKEN_KEYS, now, logger };
  const cvvKeys = createCvvKeyStore({ ...own, opener: createOpener(keys.CVV_KEYS, 'cvv') });
  const opened = await openVault(options, keys, async ({ cards, cvvs, numbers }) => {
    await Promise.all([ensureCardIndexes(cards), ensureCvvIndexes(cvvs), ensureNumberIndexes(numbers)]);
    return {
      ...createCardReader({ ...own, cards, opener: createOpener(keys.CARD_KEYS, 'card') }),
      ...createCvvReader({ ...own, cvvs, keys: cvvKeys }),
      storageId: (owner: CardOwner, card: Secret<Pick<CardData, 'pan'>>) =>
        storageId(keys.CARD_HASH_KEY.active.key, owner, card),
      tokensOf: (merchantAccount: string, card: Secret<CardData>) =>
        keys.TOKEN_KEYS.all.flatMap(({ key }) =>
          (['real', 'test'] as const).map((realm) => cardToken(key, merchantAccount, card, realm)),
        ),
      countingHashes: keys.CARD_HASH_KEY.all.map(({ key }): CountingHashes => ({
        panHash: (card) => panHash(key, card),
        fingerprint: (parts) => fingerprint(key, parts),
      })),
    };
  });
  return { ...opened, cvvKeys };
}

interface VaultParts {
  cards: Collection<StoredCard>;
  cvvs: Collection<StoredCvv>;
  numbers: Collection<StoredNumber>;
  now: () => number;
  logger: Logger;
}

async function openVault<Vault extends object>(
  options: VaultStorage,
  keys: Readonly<Record<string, Keys>>,
  create: (parts: VaultParts) => Vault | Promise<Vault>,
): Promise<OpenVault<Vault>> {
  const { uri, mongo, databasePrefix } = options;
  const connection = await connectMongo({ uri, mongo, database: `${databasePrefix}vault` });
  try {
    const parts = {
      cards: connection.collection<StoredCard>('cards'),
      cvvs: connection.collection<StoredCvv>('cvvs'),
      numbers: connection.collection<StoredNumber>('numbers'),
      now: options.now ?? Date.now,
      logger: options.logger,
    };
    const vault = await create(parts);
    return {
      vault,
      heldKeys: heldKeysOf(keys),
      healthy: () => connection.healthy(),
      async close() {
        if (isReader(vault)) await vault.drain();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function isReader(vault: object): vault is CardReader {
  return 'drain' in vault;
}
