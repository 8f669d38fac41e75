import { randomBytes } from 'node:crypto';
import type { CvvKeyIssuedData } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { createLogger, isRetryable } from '@gateway/service-kit';
import type { CardData } from './card-data';
import { createCardNumbers } from './card-numbers';
import { createCardReader } from './card-reader';
import type { StoredCard } from './card-records';
import { createCardWriter } from './card-writer';
import { tokenOf } from './cards.fixture';
import type { StoredCvv } from './cvvs';
import { createCvvKeyIssuer, createCvvKeyStore } from './cvv-keys';
import { createCvvReader, createCvvWriter } from './cvvs';
import { newVaultKeys } from './generate-keys';
import { createOpener, createSealer } from './hpke';
import { createKeyRing, DecryptionError } from './key-ring';
import { keysOf, readKeys, UnknownKeyError } from './keys';
import { openVaultReader, openVaultWriter } from './open-vault';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const logger = createLogger({ service: 'test', level: 'silent' });
const uri = process.env['TEST_MONGODB_URI'] as string;
const databasePrefix = `vault_int_${randomBytes(5).toString('hex')}_`;
type VaultKeys = ReturnType<typeof newVaultKeys>;
const oldKeys = newVaultKeys('2025');
const newKeys = newVaultKeys('2026');
/** During a rotation: the new keys are active, the old ones still open. */
const bothKeys = Object.fromEntries(
  Object.entries(newKeys).map(([name, key]) =>
    name.endsWith('_KEYS') ? [name, `${key},${oldKeys[name as keyof VaultKeys]}`] : [name, key],
  ),
) as VaultKeys;

let connection: MongoConnection;
let cards: Collection<StoredCard>;
let cvvs: Collection<StoredCvv>;
let now: number;
let vault: Vault;
/** What the brokers still have. */
let topic: CvvKeyIssuedData[];

type Vault = Awaited<ReturnType<typeof vaultWith>>;

/** What the edge writes with, and what card-processing reads with. */
async function vaultWith(settings: VaultKeys, override: Partial<Parameters<typeof createCardReader>[0]> = {}) {
  const keys = await readKeys(settings, Object.keys(settings) as (keyof VaultKeys)[]);
  const shared = { cards, cvvs, tokenKeys: keys.TOKEN_KEYS, now: () => now, logger, ...override };
  const readKey = createCvvKeyStore({ ...shared, opener: createOpener(keys.CVV_KEYS, 'cvv'), waitMs: 50 });
  for (const key of topic) readKey.accept(key);
  const issuer = createCvvKeyIssuer({
    ...shared,
    sealer: createSealer(keys.CVV_PUBLIC_KEY.active, 'cvv'),
    async publish(key) {
      topic.push(key);
      readKey.accept(key);
    },
  });
  const numbers = createCardNumbers(connection.collection('numbers'), {
    hashKey: keys.TOKEN_KEYS.active.key,
    now: () => now,
  });
  return {
    ...createCardWriter({ ...shared, numbers, sealer: createSealer(keys.CARD_PUBLIC_KEY.active, 'card') }),
    ...createCardReader({ ...shared, opener: createOpener(keys.CARD_KEYS, 'card') }),
    ...createCvvWriter({ ...shared, keys: issuer }),
    ...createCvvReader({ ...shared, keys: readKey }),
  };
}

/** Counts the driver's calls by name, to see round trips. */
function counted<T extends object>(collection: T): { collection: T; calls: string[] } {
  const calls: string[] = [];
  const proxy = new Proxy(collection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(String(name));
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { collection: proxy, calls };
}

function cardOf(override: Partial<CardData> = {}): Secret<CardData> {
  return new Secret({ pan: '4111111111111111', expMonth: '01', expYear: '2030', holder: 'JANE DOE', ...override });
}

beforeAll(async () => {
  connection = await connectMongo({ uri, database: `${databasePrefix}vault` });
  cards = connection.collection('cards');
  cvvs = connection.collection('cvvs');
});

beforeEach(async () => {
  now = Date.now();
  topic = [];
  await cards.deleteMany({});
  await cvvs.deleteMany({});
  await connection.collection('numbers').deleteMany({});
  vault = await vaultWith(oldKeys);
});

afterAll(async () => {
  await connection.mongoose.dropDatabase();
  await connection.close();
});

describe('cards', () => {
  it('has another token as a test card, and each token is valid in its realm alone', async () => {
    const real = await tokenOf(vault, 'demo_merchant', cardOf());
    const test = await tokenOf(vault, 'demo_merchant', cardOf(), 'test');
    expect(test).not.toBe(real);
    for (const [token, realm, other] of [
      [real, 'real', 'test'],
      [test, 'test', 'real'],
    ] as const) {
      const found = await vault.getCard({ merchantAccount: 'demo_merchant', realm }, token);
      expect(found?.expose()).toEqual(cardOf().expose());
      expect(await vault.getCard({ merchantAccount: 'demo_merchant', realm: other }, token)).toBeUndefined();
    }
  });

  it('of before there were realms keeps its token, which stays valid in both, also after a use', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    await cards.updateOne({ _id: token }, { $unset: { realm: '' } });
    now += 2 * DAY_MS;
    expect(await tokenOf(vault, 'demo_merchant', cardOf())).toBe(token);
    expect(await tokenOf(vault, 'demo_merchant', cardOf(), 'test')).not.toBe(token);
    for (const realm of ['real', 'test'] as const) {
      expect(await vault.getCard({ merchantAccount: 'demo_merchant', realm }, token)).toBeDefined();
    }
  });

  it('are returned by token, only to the merchant that stored them', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    expect((await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
      cardOf().expose(),
    );
    expect(await vault.getCard({ merchantAccount: 'other_merchant', realm: 'real' }, token)).toBeUndefined();
    expect(await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, 'no-such-token')).toBeUndefined();
    expect(await tokenOf(vault, 'other_merchant', cardOf())).not.toBe(token);
  });

  it('are stored once, however often and however concurrently they are put', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(vault, 'demo_merchant', cardOf())));
    tokens.push(await tokenOf(vault, 'demo_merchant', cardOf()));
    expect(new Set(tokens).size).toBe(1);
    expect(await cards.countDocuments()).toBe(1);
  });

  it('that are known need one read and no write', async () => {
    const watched = counted(cards);
    vault = await vaultWith(oldKeys, { cards: watched.collection });
    await tokenOf(vault, 'demo_merchant', cardOf());
    expect(watched.calls.splice(0)).toEqual(['find', 'updateOne']);
    now += DAY_MS - 1;
    await tokenOf(vault, 'demo_merchant', cardOf());
    expect(watched.calls).toEqual(['find']);
  });

  it('are marked as used at most once a day, by putting', async () => {
    const start = now;
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    now = start + DAY_MS - 1;
    await tokenOf(vault, 'demo_merchant', cardOf());
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start);
    now = start + DAY_MS;
    await tokenOf(vault, 'demo_merchant', cardOf());
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start + DAY_MS);
  });

  it('are marked as used at most once a day, by getting', async () => {
    const start = now;
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    now = start + DAY_MS - 1;
    await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token);
    await vault.drain();
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start);
    now = start + DAY_MS;
    await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token);
    await vault.drain();
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start + DAY_MS);
  });

  it('are returned even if the date of use cannot be written', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    const failing = new Proxy(cards, {
      get: (target, name) =>
        name === 'updateOne' ? () => Promise.reject(new Error('down')) : (Reflect.get(target, name) as unknown),
    });
    const warn = jest.fn();
    const watched = { warn, debug: jest.fn(), info: jest.fn(), error: jest.fn(), child: jest.fn() };
    vault = await vaultWith(oldKeys, { cards: failing, logger: watched });
    now += 2 * DAY_MS;
    expect((await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose().pan).toBe(
      '4111111111111111',
    );
    await vault.drain();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('are not restored by a use that races their purge', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    const purging = new Proxy(cards, {
      get(target, name) {
        if (name !== 'find') return Reflect.get(target, name) as unknown;
        const purged = () => target.findOneAndDelete({ _id: token }, { promoteBuffers: true });
        return () => ({ toArray: async () => [await purged()] });
      },
    });
    now += 2 * DAY_MS;
    vault = await vaultWith(oldKeys, { cards: purging });
    expect(await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token)).toBeDefined();
    await vault.drain();
    expect(await cards.countDocuments()).toBe(0);
  });

  it('do not open under another token, for another merchant, or when tampered with', async () => {
    const mine = await tokenOf(vault, 'demo_merchant', cardOf());
    const theirs = await tokenOf(vault, 'other_merchant', cardOf({ pan: '5555555555554444' }));
    const { keyId, data } = (await cards.findOne({ _id: theirs }, { promoteBuffers: true })) as StoredCard;

    await cards.updateOne({ _id: mine }, { $set: { keyId, data } });
    await expect(vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, mine)).rejects.toThrow(
      DecryptionError,
    );

    await cards.updateOne({ _id: theirs }, { $set: { merchantAccount: 'demo_merchant' } });
    await expect(vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, theirs)).rejects.toThrow(
      DecryptionError,
    );

    const tampered = Buffer.from(data);
    tampered[tampered.length - 1] = (tampered[tampered.length - 1] as number) ^ 1;
    await cards.updateOne({ _id: theirs }, { $set: { merchantAccount: 'other_merchant', data: tampered } });
    await expect(vault.getCard({ merchantAccount: 'other_merchant', realm: 'real' }, theirs)).rejects.toThrow(
      DecryptionError,
    );
  });
});

describe('rotation', () => {
  it('of card keys keeps old cards, and moves a card to the active key when its use is recorded', async () => {
    const byGet = await tokenOf(vault, 'demo_merchant', cardOf());
    const byPut = await tokenOf(vault, 'demo_merchant', cardOf({ holder: 'JOHN DOE' }));
    const tokens = { TOKEN_KEYS: oldKeys.TOKEN_KEYS };
    const rotated = await vaultWith({ ...bothKeys, ...tokens });
    now += DAY_MS;
    expect((await rotated.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, byGet))?.expose().holder).toBe(
      'JANE DOE',
    );
    expect(await tokenOf(rotated, 'demo_merchant', cardOf({ holder: 'JOHN DOE' }))).toBe(byPut);
    await rotated.drain();

    const retired = await vaultWith({ ...newKeys, ...tokens });
    expect((await retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, byGet))?.expose().holder).toBe(
      'JANE DOE',
    );
    expect((await retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, byPut))?.expose().holder).toBe(
      'JOHN DOE',
    );
  });

  it('of token keys: a card keeps its token while the old key is there, and new cards get new ones', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    const other = cardOf({ holder: 'JOHN DOE' });
    const underOld = await tokenOf(vault, 'demo_merchant', other);
    await cards.deleteOne({ _id: underOld });

    const rotated = await vaultWith(bothKeys);
    now += DAY_MS;
    expect(await tokenOf(rotated, 'demo_merchant', cardOf())).toBe(token);
    const underNew = await tokenOf(rotated, 'demo_merchant', other);
    expect(underNew).not.toBe(underOld);
    expect(await tokenOf(rotated, 'demo_merchant', other)).toBe(underNew);
    expect((await cards.find({}).toArray()).map(({ tokenKeyId }) => tokenKeyId)).toEqual(['2026', '2026']);
  });

  it('of token keys: a receiver is known by the tokens of all keys, the active one first', async () => {
    const of = async (keys: typeof oldKeys) => (await vaultWith(keys)).receiverTokens('demo_merchant', 'DE1');
    const [before, after] = [await of(oldKeys), await of(bothKeys)];
    expect(before.otherTokens).toEqual([]);
    expect(after.otherTokens).toEqual([before.token]);
    expect(after.token).toBe((await of(newKeys)).token);
  });

  it('of token keys: an old token keeps working when its key is gone', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    const rotated = await vaultWith(bothKeys);
    now += DAY_MS;
    await rotated.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token);
    await rotated.drain();

    const retired = await vaultWith(newKeys);
    expect((await retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
      cardOf().expose(),
    );
    expect(await tokenOf(retired, 'demo_merchant', cardOf())).not.toBe(token);
    expect((await retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
      cardOf().expose(),
    );
  });

  it('is not undone with every use by a replica whose active keys are still the old ones', async () => {
    const rotated = await vaultWith(bothKeys);
    const token = await tokenOf(rotated, 'demo_merchant', cardOf());
    const written = await cards.findOne({ _id: token });
    const appended = (name: 'CARD_KEYS' | 'TOKEN_KEYS') => ({ [name]: `${oldKeys[name]},${newKeys[name]}` });
    const behind = await vaultWith({ ...oldKeys, ...appended('CARD_KEYS'), ...appended('TOKEN_KEYS') });
    for (const replica of [behind, rotated, behind]) {
      expect(await tokenOf(replica, 'demo_merchant', cardOf())).toBe(token);
      expect((await replica.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
        cardOf().expose(),
      );
      await replica.drain();
    }
    expect(await cards.findOne({ _id: token })).toEqual(written);
  });

  it('looks for the tokens of all keys in one read', async () => {
    await tokenOf(vault, 'demo_merchant', cardOf());
    const watched = counted(cards);
    const rotated = await vaultWith(bothKeys, { cards: watched.collection });
    now += DAY_MS;
    await tokenOf(rotated, 'demo_merchant', cardOf());
    await tokenOf(rotated, 'demo_merchant', cardOf());
    expect(watched.calls).toEqual(['find', 'updateOne', 'find']);
  });

  it.each(['CARD_KEYS', 'TOKEN_KEYS'] as const)('says so when a key of %s was removed too early', async (setting) => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    const retired = await vaultWith({ ...bothKeys, [setting]: newKeys[setting] });
    await expect(retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token)).rejects.toThrow(
      UnknownKeyError,
    );
    await expect(retired.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token)).rejects.toThrow(
      `"2025" is not in ${setting}`,
    );
  });

  it('reads a CVV that was stored before it', async () => {
    await vault.putCvv('R1', new Secret('123'));
    expect((await (await vaultWith(bothKeys)).takeCvv('R1'))?.expose()).toBe('123');
  });
});

describe('what the edge has', () => {
  /** Every byte string in the edge's settings, tried as a private key with every pre-shared key that it can derive. */
  const WRITER_SETTINGS = ['CARD_PUBLIC_KEY', 'CVV_PUBLIC_KEY', 'TOKEN_KEYS', 'ACCOUNT_KEYS'] as const;

  it('cannot open the cards that it wrote, nor the CVVs after five minutes', async () => {
    const publishCvvKey = async (key: CvvKeyIssuedData) => void topic.push(key);
    const writer = await openVaultWriter({ uri, databasePrefix, logger, publishCvvKey, ...oldKeys });
    const token = await tokenOf(writer.vault, 'demo_merchant', cardOf());
    await writer.vault.putCvv('R1', new Secret('123'));
    const { vault: openedByEdge } = writer;
    expect(Object.keys(openedByEdge).sort()).toEqual([
      'dropCvv',
      'putCard',
      'putCvv',
      'receiverTokens',
      'requireCvvKey',
    ]);

    const openedWith = async (CARD_KEYS: string, CVV_KEYS: string) => {
      const reader = await vaultWith({ ...oldKeys, CARD_KEYS, CVV_KEYS });
      const cvv = await cvvs.findOne({ _id: 'R1' }, { promoteBuffers: true });
      const attempts = await Promise.allSettled([
        reader.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token),
        reader.takeCvv('R1'),
      ]);
      if (cvv !== null) await cvvs.replaceOne({ _id: 'R1' }, cvv, { upsert: true });
      return attempts.map((attempt) => attempt.status === 'fulfilled' && attempt.value !== undefined);
    };
    for (const setting of WRITER_SETTINGS) {
      expect(await openedWith(oldKeys[setting], oldKeys[setting])).toEqual([false, false]);
    }
    expect(await openedWith(oldKeys.CARD_KEYS, oldKeys.CVV_KEYS)).toEqual([true, true]);
    await writer.close();
  });
});

describe('a record of an intruder', () => {
  it('does not open: it takes the token key to write one', async () => {
    const token = await tokenOf(vault, 'demo_merchant', cardOf());
    // Public keys are no secret, and the intruder can write to the database.
    const intruder = await vaultWith({ ...oldKeys, TOKEN_KEYS: newVaultKeys('2025').TOKEN_KEYS });
    const forged = await tokenOf(intruder, 'demo_merchant', cardOf({ pan: '5555555555554444' }));
    await expect(vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, forged)).rejects.toThrow(
      DecryptionError,
    );
    expect((await vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
      cardOf().expose(),
    );

    topic = [];
    await intruder.putCvv('R1', new Secret('666'));
    expect(await (await vaultWith(oldKeys)).takeCvv('R1')).toBeUndefined();
  });
});

describe('CVVs', () => {
  it('are returned once', async () => {
    await vault.putCvv('R1', new Secret('0123'));
    expect((await vault.takeCvv('R1'))?.expose()).toBe('0123');
    expect(await vault.takeCvv('R1')).toBeUndefined();
    expect(await cvvs.countDocuments()).toBe(0);
  });

  it('go to one of two takers', async () => {
    for (let round = 0; round < 20; round += 1) {
      await vault.putCvv('R1', new Secret('123'));
      const other = await vaultWith(oldKeys);
      const taken = await Promise.all([vault.takeCvv('R1'), other.takeCvv('R1')]);
      expect(taken.filter((cvv) => cvv !== undefined)).toHaveLength(1);
    }
  });

  it('stay until their key is known, and are not used if their operation ends meanwhile', async () => {
    await vault.putCvv('R1', new Secret('123'));
    const key = { id: 'late', key: new Secret(randomBytes(32)) };
    const find = async () => {
      expect(await cvvs.countDocuments({ _id: 'R1' })).toBe(1);
      await vault.dropCvv('R1');
      return createKeyRing(keysOf('cvv.keys', [key]));
    };
    const reader = createCvvReader({ cvvs, now: () => now, logger, keys: { find } });
    expect(await reader.takeCvv('R1')).toBeUndefined();
  });

  it('are returned for 20 minutes, even if the TTL index has not purged them', async () => {
    await vault.putCvv('R1', new Secret('123'));
    await vault.putCvv('R2', new Secret('123'));
    now += 20 * MINUTE_MS;
    expect(await vault.takeCvv('R1')).toBeDefined();
    now += 1;
    expect(await vault.takeCvv('R2')).toBeUndefined();
    expect(await cvvs.countDocuments()).toBe(0);
  });

  it('keep their age when edited, and do not open under another reference', async () => {
    await vault.putCvv('R1', new Secret('123'));
    now += 21 * MINUTE_MS;
    await cvvs.updateOne({ _id: 'R1' }, { $set: { storedAt: new Date(now) } });
    await expect(vault.takeCvv('R1')).rejects.toThrow(DecryptionError);

    await vault.putCvv('R2', new Secret('123'));
    const { _id, ...moved } = (await cvvs.findOneAndDelete({ _id: 'R2' })) as StoredCvv;
    await cvvs.insertOne({ _id: 'R3', ...moved });
    await expect(vault.takeCvv('R3')).rejects.toThrow(DecryptionError);
  });

  it('can be put again and dropped', async () => {
    await vault.putCvv('R1', new Secret('123'));
    await vault.putCvv('R1', new Secret('456'));
    expect((await vault.takeCvv('R1'))?.expose()).toBe('456');
    await vault.putCvv('R1', new Secret('123'));
    await vault.dropCvv('R1');
    await vault.dropCvv('R1');
    expect(await vault.takeCvv('R1')).toBeUndefined();
  });
});

describe('the database', () => {
  it('holds no card number, CVV or holder: raw, hex or base64', async () => {
    const pan = '4929123456781234';
    const holder = 'XENIA UNIQUE-NAME';
    const cvv = '90817263';
    await tokenOf(vault, 'demo_merchant', cardOf({ pan, holder }));
    await vault.putCvv('R1', new Secret(cvv));
    const bytes = Buffer.concat([
      ...(await cards.find({}, { raw: true }).toArray()).map((raw) => raw as unknown as Buffer),
      ...(await cvvs.find({}, { raw: true }).toArray()).map((raw) => raw as unknown as Buffer),
    ]);
    expect(bytes.includes('demo_merchant')).toBe(true);
    for (const secret of [pan, holder, cvv]) {
      for (const encoded of encodings(secret)) expect(bytes.includes(encoded)).toBe(false);
    }
  });

  it('purges cards unused for 13 months and CVVs after 20 minutes', async () => {
    for (let time = 0; time < 2; time += 1) {
      const opened = await openVaultReader({ uri, databasePrefix, logger, ...oldKeys });
      await opened.close();
    }
    const expiry = async (collection: { indexes(): Promise<unknown> }): Promise<unknown> =>
      ((await collection.indexes()) as { key: object; expireAfterSeconds?: number }[])
        .filter((index) => index.expireAfterSeconds !== undefined)
        .map(({ key, expireAfterSeconds }) => ({ key, expireAfterSeconds }));
    expect(await expiry(cards)).toEqual([{ key: { lastUsedAt: 1 }, expireAfterSeconds: 396 * 86_400 }]);
    expect(await expiry(cvvs)).toEqual([{ key: { storedAt: 1 }, expireAfterSeconds: 1200 }]);
  });
});

describe('an open vault', () => {
  it('uses the database of its prefix with indexes made, and closes it', async () => {
    const publishCvvKey = async () => undefined;
    const writer = await openVaultWriter({ uri, databasePrefix, logger, publishCvvKey, ...oldKeys });
    const reader = await openVaultReader({ uri, databasePrefix, logger, ...oldKeys });
    const token = await tokenOf(writer.vault, 'demo_merchant', cardOf());
    expect(await cards.countDocuments({ _id: token })).toBe(1);
    expect((await reader.vault.getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token))?.expose()).toEqual(
      cardOf().expose(),
    );
    expect([writer.healthy(), reader.healthy()]).toEqual([true, true]);
    await writer.close();
    await reader.close();
    const error: unknown = await reader.vault
      .getCard({ merchantAccount: 'demo_merchant', realm: 'real' }, token)
      .catch((failure: unknown) => failure);
    expect(isRetryable(error)).toBe(true);
  });

  it('does not connect with a wrong key, and names all of them', async () => {
    const publishCvvKey = async () => undefined;
    const wrong = { ...oldKeys, CARD_PUBLIC_KEY: 'x', TOKEN_KEYS: 'y' };
    const elsewhere = { uri: 'mongodb://127.0.0.1:1', databasePrefix, logger, publishCvvKey };
    await expect(openVaultWriter({ ...elsewhere, ...wrong })).rejects.toThrow(
      /CARD_PUBLIC_KEY entry 1 .*TOKEN_KEYS entry 1/,
    );
  });
});

/** The base64 of a text depends on its offset in a group of three bytes, so search for all three. */
function encodings(secret: string): string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from('\0'.repeat(shift) + secret).toString('base64');
    return text.slice(Math.ceil((shift * 4) / 3), -4);
  });
  return [secret, Buffer.from(secret).toString('hex'), ...base64];
}
