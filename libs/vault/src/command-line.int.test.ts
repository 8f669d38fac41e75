import { randomBytes } from 'node:crypto';
import { anchorPublicKey } from '@gateway/audit';
import { Secret } from '@gateway/contracts';
import type { Collection, MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { createLogger } from '@gateway/service-kit';
import { createCallers } from '@gateway/testing';
import type { StoredCard } from './card-records';
import { tokenOf } from './cards.fixture';
import { main } from './command-line';
import { newVaultKeys } from './generate-keys';
import { publicKeyOf } from './hpke';
import { readKeys } from './keys';
import { openCardReader, openVaultWriter } from './open-vault';

const MERCHANT = 'demo_merchant';
const A_DAY_MS = 24 * 60 * 60 * 1000;
const logger = createLogger({ service: 'test', level: 'silent' });
const uri = process.env['TEST_MONGODB_URI'] as string;
const databasePrefix = `vault_cli_${randomBytes(5).toString('hex')}_`;
const oldKeys = newVaultKeys('2025');
const newKeys = newVaultKeys('2026');
const callers = createCallers();
const environment = {
  MONGODB_URI: uri,
  DATABASE_PREFIX: databasePrefix,
  CALLERS_FILE: callers.file,
  IDENTITY_TOKEN: callers.token('operator'),
};
const both = {
  CARD_KEYS: `${newKeys.CARD_KEYS},${oldKeys.CARD_KEYS}`,
  TOKEN_KEYS: `${newKeys.TOKEN_KEYS},${oldKeys.TOKEN_KEYS}`,
};

let connection: MongoConnection;
let cards: Collection<StoredCard>;

async function run(args: string[], env: Record<string, string> = both, signal?: AbortSignal) {
  const result = { out: '', err: '' };
  const code = await main(args, {
    env: { ...environment, ...env },
    out: (text) => void (result.out += `${text}\n`),
    err: (text) => void (result.err += `${text}\n`),
    ...(signal === undefined ? {} : { signal }),
  });
  return { code, ...result };
}

/** Stores cards as the edge does, and returns their tokens. */
async function store(keys: typeof oldKeys, count: number): Promise<string[]> {
  const writer = await openVaultWriter({ uri, databasePrefix, logger, publishCvvKey: async () => undefined, ...keys });
  const tokens = await Promise.all(
    Array.from({ length: count }, (_, index) => tokenOf(writer.vault, MERCHANT, cardOf(index))),
  );
  await writer.close();
  return tokens;
}

const cardOf = (index: number) =>
  new Secret({ pan: '4111111111111111', expMonth: '01', expYear: '2030', holder: `HOLDER ${index}` });

async function holders(keys: Pick<typeof oldKeys, 'CARD_KEYS' | 'TOKEN_KEYS'>, tokens: string[]) {
  const reader = await openCardReader({ uri, databasePrefix, logger, ...keys });
  const found = await Promise.all(
    tokens.map((token) => reader.vault.getCard({ merchantAccount: MERCHANT, realm: 'real' }, token)),
  );
  await reader.close();
  return found.map((card) => card?.expose().holder);
}

beforeAll(async () => {
  connection = await connectMongo({ uri, database: `${databasePrefix}vault` });
  cards = connection.collection('cards');
});

beforeEach(() => cards.deleteMany({}));

afterAll(async () => {
  await connection.mongoose.dropDatabase();
  await connection.mongoose.useDb(`${databasePrefix}audit`).dropDatabase();
  await connection.close();
  callers.remove();
});

describe('anchor-key', () => {
  const [active, old] = [newVaultKeys('2026').SIGNING_KEYS, newVaultKeys('2025').SIGNING_KEYS];
  const publicHalf = (entry: string) => anchorPublicKey(new Secret(Buffer.from(entry.split(':')[1] ?? '', 'base64')));

  test('prints what anchors of the audit log are checked with, under both keys of a rotation', async () => {
    const env = { SIGNING_KEYS: `${active},${old}` };
    const expected = `${publicHalf(active)},${publicHalf(old)}`;
    expect(await run(['anchor-key'], env)).toEqual({ code: 0, out: `${expected}\n`, err: '' });
    const { out } = await run(['anchor-key', '--json'], env);
    expect(JSON.parse(out)).toEqual({ AUDIT_ANCHOR_PUBLIC_KEY: expected });
  });

  test('needs SIGNING_KEYS, and in production not those of npm start', async () => {
    expect(await run(['anchor-key'], {})).toMatchObject({
      code: 1,
      err: expect.stringContaining('SIGNING_KEYS is not set') as string,
    });
    const env = { NODE_ENV: 'production', SIGNING_KEYS: newVaultKeys('dev-1').SIGNING_KEYS };
    expect(await run(['anchor-key'], env)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('development key') as string,
    });
  });
});

describe('reencrypt', () => {
  test('retires a key in one run: every card opens with the new keys alone, under its old token', async () => {
    const tokens = await store(oldKeys, 450);
    const used = (await cards.findOne({ _id: tokens[0] as string }))?.lastUsedAt;
    const { code, out, err } = await run(['reencrypt']);
    expect({ code, out }).toEqual({ code: 0, out: 'cards encrypted again: 450\n' });
    expect(err.trim().split('\n')).toEqual(['200 of 450 cards', '400 of 450 cards', '450 of 450 cards']);
    expect(await holders(newKeys, tokens)).toEqual(tokens.map((_, index) => `HOLDER ${index}`));
    expect((await cards.findOne({ _id: tokens[0] as string }))?.lastUsedAt).toEqual(used);
    expect((await run(['reencrypt'])).out).toBe('cards encrypted again: 0\n');
    const audited = connection.mongoose.useDb(`${databasePrefix}audit`).collection('entries');
    expect(await audited.find().sort({ _id: 1 }).limit(2).toArray()).toMatchObject([
      { action: 'vault.reencrypt', operator: 'operator', phase: 'intent' },
      { phase: 'done', after: { reencrypted: 450, failed: 0, stopped: false } },
    ]);
  });

  test('is continued where it was stopped', async () => {
    const tokens = await store(oldKeys, 450);
    const stopping = new AbortController();
    const stopped = await main(['reencrypt'], {
      env: { ...environment, ...both },
      out: () => undefined,
      err: () => stopping.abort(),
      signal: stopping.signal,
    });
    expect(stopped).toBe(1);
    expect(await cards.countDocuments({ keyId: '2026' })).toBe(200);
    expect(await run(['reencrypt'])).toMatchObject({ code: 0, out: 'cards encrypted again: 250\n' });
    expect(await holders(newKeys, tokens.slice(0, 3))).toEqual(['HOLDER 0', 'HOLDER 1', 'HOLDER 2']);
  });

  test('reads only what is left, however many cards are done', async () => {
    await store({ ...oldKeys, TOKEN_KEYS: newKeys.TOKEN_KEYS }, 5);
    await store(newKeys, 300);
    await store(oldKeys, 5);
    const { db } = connection.mongoose;
    if (db === undefined) throw new Error('not connected');
    await db.command({ profile: 2 });
    expect((await run(['reencrypt'])).out).toBe('cards encrypted again: 10\n');
    await db.command({ profile: 0 });
    const reads = { ns: `${db.databaseName}.cards`, op: { $in: ['query', 'getmore', 'command'] } };
    const [examined] = await db
      .collection('system.profile')
      .aggregate([
        { $match: reads },
        { $group: { _id: null, keys: { $sum: '$keysExamined' }, documents: { $sum: '$docsExamined' } } },
      ])
      .toArray();
    expect(examined).toMatchObject({ documents: 10 });
    // Each of the ten is counted and found; the others are the ends of ranges.
    expect((examined as { keys: number }).keys).toBeLessThan(40);
  });

  test('goes past a card that does not open, and names it', async () => {
    const [lost = '', other = ''] = await store(oldKeys, 2);
    await cards.updateOne({ _id: lost }, { $set: { keyId: 'gone' } });
    const { code, out, err } = await run(['reencrypt']);
    expect({ code, out }).toEqual({ code: 1, out: 'cards encrypted again: 1, failed: 1\n' });
    expect(err).toContain(`${lost}: Key "gone" is not in CARD_KEYS`);
    expect(await holders(newKeys, [other])).toEqual(['HOLDER 1']);
  });

  test('leaves alone a card that a use has moved', async () => {
    const [token = ''] = await store(oldKeys, 1);
    await cards.updateOne({ _id: token }, { $set: { lastUsedAt: new Date(Date.now() - A_DAY_MS) } });
    const before = await cards.findOne({ _id: token });
    await holders(both, [token]); // moves it to the active keys
    const moved = await cards.findOne({ _id: token });
    expect(moved?.keyId).toBe('2026');
    expect(moved?.data).not.toEqual(before?.data);
    expect((await run(['reencrypt'])).out).toBe('cards encrypted again: 0\n');
    expect(await cards.findOne({ _id: token })).toEqual(moved);
  });
});

describe('status', () => {
  test('counts cards under each key, and names keys that are missing', async () => {
    const [first = ''] = await store(oldKeys, 3);
    await store(newKeys, 2);
    await cards.updateOne({ _id: first }, { $set: { keyId: 'gone' } });
    const { code, out } = await run(['status', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      cards: 5,
      CARD_KEYS: [
        { id: '2026', cards: 2, use: 'active' },
        { id: '2025', cards: 2, use: 'old' },
        { id: 'gone', cards: 1, use: 'MISSING' },
      ],
      TOKEN_KEYS: [
        { id: '2026', cards: 2, use: 'active' },
        { id: '2025', cards: 3, use: 'old' },
      ],
      toReencrypt: 3,
    });
    expect((await run(['status'])).out).toMatch(/2026 +2 {2}active[^]*cards: 5, to encrypt again: 3/);
  });

  test('says when a key may be removed', async () => {
    await store(newKeys, 1);
    expect((await run(['status'])).out).toMatch(/2025 +0 {2}may be removed/);
  });
});

describe('rotate', () => {
  test('makes a key pair whose public half is for the edge', async () => {
    const { code, out } = await run(['rotate', 'CARD_KEYS', '--id', 'next', '--json'], {});
    expect(code).toBe(0);
    const made = JSON.parse(out) as { CARD_KEYS: string; CARD_PUBLIC_KEY: string };
    const keys = await readKeys(made, ['CARD_KEYS', 'CARD_PUBLIC_KEY']);
    expect([keys.CARD_KEYS.active.id, keys.CARD_PUBLIC_KEY.active.id]).toEqual(['next', 'next']);
    const half = publicKeyOf(keys.CARD_KEYS.active.key).expose();
    expect(half.equals(keys.CARD_PUBLIC_KEY.active.key.expose())).toBe(true);
  });

  test('gives each key an id of its own, also twice a day', async () => {
    const made = [];
    for (let round = 0; round < 2; round += 1) {
      const { out } = await run(['rotate', 'TOKEN_KEYS', '--json'], {});
      made.push((JSON.parse(out) as { TOKEN_KEYS: string }).TOKEN_KEYS);
    }
    const { TOKEN_KEYS } = await readKeys({ TOKEN_KEYS: made.join(',') }, ['TOKEN_KEYS']);
    expect(TOKEN_KEYS.all).toHaveLength(2);
  });

  test('says what to do, in order', async () => {
    const { out } = await run(['rotate', 'TOKEN_KEYS'], {});
    expect(out).toMatch(
      /1\. Append [^]* 20\d\d-\d\d-\d\d-[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n2\. [^]*3\. npm run vault -- reencrypt, and wait for 30 minutes\n4\. [^]*Payout receivers that were not paid after step 2 then count as new/,
    );
    expect((await run(['rotate', 'CARD_KEYS'], {})).out).not.toContain('receivers');
  });

  test.each([
    ['CARD_KEYS', 'set at api-edge:\n   CARD_PUBLIC_KEY='],
    ['CVV_KEYS', 'set at api-edge:\n   CVV_PUBLIC_KEY='],
    ['SIGNING_KEYS', 'set at npm run merchant:\n   SIGNING_PUBLIC_KEY='],
  ])('of %s says who holds the public half', async (setting, words) => {
    expect((await run(['rotate', setting], {})).out).toContain(words);
  });

  test.each([[[]], [['JOURNAL_HMAC_KEY']], [['CARD_PUBLIC_KEY']]])('of %j is refused', async (args) => {
    expect(await run(['rotate', ...args], {})).toMatchObject({ code: 2, out: '' });
  });
});

test.each([[[]], [['remove']], [['status', 'now']], [['status', '--fast']]])('%j makes no sense', async (args) => {
  expect(await run(args)).toMatchObject({ code: 2, out: '' });
});

test('names every setting that is missing', async () => {
  expect(await run(['status'], { MONGODB_URI: '' })).toEqual({
    code: 1,
    out: '',
    err: 'Configuration: MONGODB_URI is not set; CARD_KEYS is not set; TOKEN_KEYS is not set.\n',
  });
});
