import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { isRetryable } from '@gateway/service-kit';
import type { CardData } from './card-data';
import type { CardVault, StoredCard, StoredCvv } from './card-vault';
import { createCardVault } from './card-vault';
import { DecryptionError, parseKeyRing, UnknownKeyError } from './key-ring';
import { openVault } from './open-vault';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const uri = process.env['TEST_MONGODB_URI'] as string;
const databasePrefix = `vault_int_${randomBytes(5).toString('hex')}_`;
const oldKey = `2025:${randomBytes(32).toString('base64')}`;
const newKey = `2026:${randomBytes(32).toString('base64')}`;
const tokenKey = new Secret(randomBytes(32));

let connection: MongoConnection;
let cards: Collection<StoredCard>;
let cvvs: Collection<StoredCvv>;
let now: number;
let vault: CardVault;

function vaultWith(keys: string, override: Partial<Parameters<typeof createCardVault>[0]> = {}): CardVault {
  return createCardVault({ cards, cvvs, keyRing: parseKeyRing(keys), tokenKey, now: () => now, ...override });
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
  await cards.deleteMany({});
  await cvvs.deleteMany({});
  vault = vaultWith(oldKey);
});

afterAll(async () => {
  await connection.mongoose.dropDatabase();
  await connection.close();
});

describe('cards', () => {
  it('are returned by token, only to the merchant that stored them', async () => {
    const token = await vault.putCard('demo_merchant', cardOf());
    expect((await vault.getCard('demo_merchant', token))?.expose()).toEqual(cardOf().expose());
    expect(await vault.getCard('other_merchant', token)).toBeUndefined();
    expect(await vault.getCard('demo_merchant', 'no-such-token')).toBeUndefined();
    expect(await vault.putCard('other_merchant', cardOf())).not.toBe(token);
  });

  it('are stored once, however often and however concurrently they are put', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => vault.putCard('demo_merchant', cardOf())));
    tokens.push(await vault.putCard('demo_merchant', cardOf()));
    expect(new Set(tokens).size).toBe(1);
    expect(await cards.countDocuments()).toBe(1);
  });

  it('that are known need one read and no write', async () => {
    const watched = counted(cards);
    vault = vaultWith(oldKey, { cards: watched.collection });
    await vault.putCard('demo_merchant', cardOf());
    expect(watched.calls.splice(0)).toEqual(['find', 'updateOne']);
    now += DAY_MS - 1;
    await vault.putCard('demo_merchant', cardOf());
    expect(watched.calls).toEqual(['find']);
  });

  it('are marked as used at most once a day, by putting', async () => {
    const start = now;
    const token = await vault.putCard('demo_merchant', cardOf());
    now = start + DAY_MS - 1;
    await vault.putCard('demo_merchant', cardOf());
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start);
    now = start + DAY_MS;
    await vault.putCard('demo_merchant', cardOf());
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start + DAY_MS);
  });

  it('are marked as used at most once a day, by getting', async () => {
    const start = now;
    const token = await vault.putCard('demo_merchant', cardOf());
    now = start + DAY_MS - 1;
    await vault.getCard('demo_merchant', token);
    await vault.drain();
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start);
    now = start + DAY_MS;
    await vault.getCard('demo_merchant', token);
    await vault.drain();
    expect((await cards.findOne({ _id: token }))?.lastUsedAt.getTime()).toBe(start + DAY_MS);
  });

  it('are returned even if the date of use cannot be written', async () => {
    const token = await vault.putCard('demo_merchant', cardOf());
    const failing = new Proxy(cards, {
      get: (target, name) =>
        name === 'updateOne' ? () => Promise.reject(new Error('down')) : (Reflect.get(target, name) as unknown),
    });
    const warn = jest.fn();
    const logger = { warn, debug: jest.fn(), info: jest.fn(), error: jest.fn(), child: jest.fn() };
    vault = vaultWith(oldKey, { cards: failing, logger });
    now += 2 * DAY_MS;
    expect((await vault.getCard('demo_merchant', token))?.expose().pan).toBe('4111111111111111');
    await vault.drain();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('are not restored by a use that races their purge', async () => {
    const token = await vault.putCard('demo_merchant', cardOf());
    const purging = new Proxy(cards, {
      get(target, name) {
        if (name !== 'find') return Reflect.get(target, name) as unknown;
        const purged = () => target.findOneAndDelete({ _id: token }, { promoteBuffers: true });
        return () => ({ toArray: async () => [await purged()] });
      },
    });
    now += 2 * DAY_MS;
    vault = vaultWith(oldKey, { cards: purging });
    expect(await vault.getCard('demo_merchant', token)).toBeDefined();
    await vault.drain();
    expect(await cards.countDocuments()).toBe(0);
  });

  it('do not open under another token, for another merchant, or when tampered with', async () => {
    const mine = await vault.putCard('demo_merchant', cardOf());
    const theirs = await vault.putCard('other_merchant', cardOf({ pan: '5555555555554444' }));
    const { keyId, data } = (await cards.findOne({ _id: theirs }, { promoteBuffers: true })) as StoredCard;

    await cards.updateOne({ _id: mine }, { $set: { keyId, data } });
    await expect(vault.getCard('demo_merchant', mine)).rejects.toThrow(DecryptionError);

    await cards.updateOne({ _id: theirs }, { $set: { merchantAccount: 'demo_merchant' } });
    await expect(vault.getCard('demo_merchant', theirs)).rejects.toThrow(DecryptionError);

    const tampered = Buffer.from(data);
    tampered[tampered.length - 1] = (tampered[tampered.length - 1] as number) ^ 1;
    await cards.updateOne({ _id: theirs }, { $set: { merchantAccount: 'other_merchant', data: tampered } });
    await expect(vault.getCard('other_merchant', theirs)).rejects.toThrow(DecryptionError);
  });
});

describe('rotation', () => {
  it('keeps tokens and old cards, and moves a card to the active key when it is next used', async () => {
    const byGet = await vault.putCard('demo_merchant', cardOf());
    const byPut = await vault.putCard('demo_merchant', cardOf({ holder: 'JOHN DOE' }));
    const rotated = vaultWith(`${newKey},${oldKey}`);
    expect((await rotated.getCard('demo_merchant', byGet))?.expose().holder).toBe('JANE DOE');
    expect(await rotated.putCard('demo_merchant', cardOf({ holder: 'JOHN DOE' }))).toBe(byPut);
    await rotated.drain();

    const retired = vaultWith(newKey);
    expect((await retired.getCard('demo_merchant', byGet))?.expose().holder).toBe('JANE DOE');
    expect((await retired.getCard('demo_merchant', byPut))?.expose().holder).toBe('JOHN DOE');
  });

  it('says so when a key was removed too early', async () => {
    const token = await vault.putCard('demo_merchant', cardOf());
    await expect(vaultWith(newKey).getCard('demo_merchant', token)).rejects.toThrow(UnknownKeyError);
  });

  it('reads a CVV that was stored before it', async () => {
    await vault.putCvv('R1', new Secret('123'));
    expect((await vaultWith(`${newKey},${oldKey}`).takeCvv('R1'))?.expose()).toBe('123');
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
      const taken = await Promise.all([vault.takeCvv('R1'), vaultWith(oldKey).takeCvv('R1')]);
      expect(taken.filter((cvv) => cvv !== undefined)).toHaveLength(1);
    }
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
    await vault.putCard('demo_merchant', cardOf({ pan, holder }));
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
    await vault.ensureIndexes();
    await vault.ensureIndexes();
    const expiry = async (collection: { indexes(): Promise<unknown> }): Promise<unknown> =>
      ((await collection.indexes()) as { key: object; expireAfterSeconds?: number }[])
        .filter((index) => index.expireAfterSeconds !== undefined)
        .map(({ key, expireAfterSeconds }) => ({ key, expireAfterSeconds }));
    expect(await expiry(cards)).toEqual([{ key: { lastUsedAt: 1 }, expireAfterSeconds: 396 * 86_400 }]);
    expect(await expiry(cvvs)).toEqual([{ key: { storedAt: 1 }, expireAfterSeconds: 1200 }]);
  });
});

describe('openVault', () => {
  const VAULT_TOKEN_KEY = randomBytes(32).toString('base64');

  it('opens the database of its prefix with indexes made, and closes it', async () => {
    const opened = await openVault({ uri, databasePrefix, VAULT_KEYS: newKey, VAULT_TOKEN_KEY });
    const token = await opened.vault.putCard('demo_merchant', cardOf());
    expect(await cards.countDocuments({ _id: token })).toBe(1);
    expect(opened.healthy()).toBe(true);
    await opened.close();
    const error: unknown = await opened.vault.getCard('demo_merchant', token).catch((failure: unknown) => failure);
    expect(isRetryable(error)).toBe(true);
  });

  it('does not connect with a wrong key', async () => {
    const wrong = openVault({ uri: 'mongodb://127.0.0.1:1', databasePrefix, VAULT_KEYS: 'x', VAULT_TOKEN_KEY });
    await expect(wrong).rejects.toThrow('VAULT_KEYS entry 1');
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
