import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { openSpace, recordingLogger } from '@gateway/testing';
import type { Space } from '@gateway/testing';
import type { OpenAudit } from '../src';
import { anchorPublicKey, createAnchorSigner, openAudit } from '../src';
import type { StoredEntry } from '../src/audit-log';
import type { Entry } from '../src/entry';
import { runCli } from '../src/command-line';

const operator = { name: 'alice', from: 'alice@desk' };
const RETENTION_DAYS = 1_825;
const given = (days: number) => ({ days, mayShorten: true });
const APPENDERS = 4;
const ACTIONS_EACH = 10;

let space: Space;
let mongo: MongoConnection;
let audit: OpenAudit;
let lines: string[];

const entries = () => mongo.collection<StoredEntry>('entries');

function open(more: { now?: () => number } = {}): Promise<OpenAudit> {
  const { mongoUri: uri, databasePrefix } = space;
  return openAudit({ uri, databasePrefix, ...more, logger: recordingLogger(lines) });
}

async function cli(...args: string[]): Promise<{ code: number; text: string }> {
  return cliWith({}, ...args);
}

async function cliWith(more: Record<string, string>, ...args: string[]): Promise<{ code: number; text: string }> {
  const printed: string[] = [];
  const env = { MONGODB_URI: space.mongoUri, DATABASE_PREFIX: space.databasePrefix, ...more };
  const code = await runCli(args, env, (line) => printed.push(line));
  return { code, text: printed.join('\n') };
}

/** Three actions: six entries. */
async function someActions(): Promise<void> {
  for (const subject of ['shop_1', 'shop_2', 'shop_3']) {
    await audit.record(
      { operator, action: 'account.suspend', subject, before: { state: 'active', revision: 1 } },
      () => Promise.resolve(2),
      (revision) => ({ state: 'suspended', revision }),
    );
  }
}

const anchorOf = ({ sequence, hash }: Entry) => ({ sequence, hash });

/** The line of `verify` that an operator writes down. */
async function head(): Promise<string> {
  const [, anchor = ''] = /head (\S+)$/.exec((await cli('check')).text) ?? [];
  return anchor;
}

beforeAll(async () => {
  space = await openSpace('audit');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}audit` });
});
beforeEach(async () => {
  lines = [];
  await entries().deleteMany({});
  audit = await open();
  await audit.ensureIndexes(given(RETENTION_DAYS));
});
afterEach(() => audit.close());
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

describe('an action', () => {
  it('has an entry before it takes effect, and one with what has changed after it', async () => {
    const seen: unknown[] = [];
    const result = await audit.record(
      { operator, action: 'account.change', subject: 'acme_shop', before: { rateLimitPerSecond: 5, revision: 1 } },
      async () => {
        seen.push(...(await audit.list({ limit: 5 })));
        return 'result';
      },
      () => ({ rateLimitPerSecond: 6, revision: 1 }),
    );
    expect(result).toBe('result');
    const common = { operator: 'alice', from: 'alice@desk', action: 'account.change', subject: 'acme_shop' };
    const intent = { ...common, sequence: 1, phase: 'intent', before: { rateLimitPerSecond: 5, revision: 1 } };
    expect(seen).toEqual([expect.objectContaining(intent)]);
    const [outcome] = await audit.list({ limit: 1 });
    expect(outcome).toMatchObject({
      ...common,
      sequence: 2,
      phase: 'done',
      intent: 1,
      after: { rateLimitPerSecond: 6 },
    });
    expect(outcome?.after).not.toHaveProperty('revision');
  });

  it('that fails has a failed outcome, and its error reaches the caller', async () => {
    const failing = audit.record({ operator, action: 'account.close', subject: 'acme_shop' }, () =>
      Promise.reject(new Error('refused')),
    );
    await expect(failing).rejects.toThrow('refused');
    expect(await audit.list({ limit: 5 })).toMatchObject([{ phase: 'failed', intent: 1 }, { phase: 'intent' }]);
    expect((await cli('check')).code).toBe(0);
  });

  it('does not run without its first entry', async () => {
    await audit.close();
    let ran = false;
    const action = { operator, action: 'account.close', subject: 'acme_shop' } as const;
    await expect(audit.record(action, async () => void (ran = true))).rejects.toThrow();
    expect(ran).toBe(false);
    audit = await open();
  });

  it('whose outcome cannot be written is over all the same: its intent stays without one', async () => {
    const action = { operator, action: 'account.close', subject: 'acme_shop' } as const;
    expect(await audit.record(action, async () => (await audit.close(), 'closed'))).toBe('closed');
    expect(lines.join('\n')).toContain('the outcome of an audited action is not on record');
    const { code, text } = await cli('check');
    expect(text).toContain('without an outcome, so they may have taken effect or not: 1');
    expect(code).toBe(0);
    audit = await open();
  });

  it('leaves the hash of its entries in the log of the service', async () => {
    await someActions();
    expect(lines.join('\n')).toContain((await head()).split(':')[1]);
  });
});

it('appends of several processes form one chain without gaps', async () => {
  const others = await Promise.all(Array.from({ length: APPENDERS }, () => open()));
  const suspend = (subject: string, by: OpenAudit) =>
    by.record({ operator, action: 'account.suspend', subject }, () => Promise.resolve());
  await Promise.all(
    others.flatMap((one, appender) =>
      Array.from({ length: ACTIONS_EACH }, (_, index) => suspend(`shop_${appender}_${index}`, one)),
    ),
  );
  for (const one of others) await one.close();
  const count = 2 * APPENDERS * ACTIONS_EACH;
  expect(await cli('check')).toMatchObject({
    code: 0,
    text: expect.stringMatching(`^${count} entries, head ${count}:`),
  });
}, 120_000);

it('uses the clock of the database', async () => {
  await someActions();
  const [entry] = await audit.list({ limit: 1 });
  expect(Math.abs((entry?.at ?? 0) - (await audit.now()))).toBeLessThan(60_000);
});

describe('tampering', () => {
  const SIX = 'entries, head';
  beforeEach(() => someActions());

  it('is absent at first', async () => {
    expect(await cli('check')).toMatchObject({ code: 0, text: expect.stringMatching(`^6 ${SIX} 6:[0-9a-f]{64}$`) });
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['change', () => entries().updateOne({ _id: 3 }, { $set: { operator: 'bob' } }), 'entry 3 was changed'],
    [
      'change of a nested field',
      () => entries().updateOne({ _id: 3 }, { $set: { 'before.state': 'test' } }),
      'entry 3',
    ],
    ['change of the time', () => entries().updateOne({ _id: 3 }, { $set: { at: new Date(0) } }), 'entry 3 was changed'],
    ['new field', () => entries().updateOne({ _id: 3 }, { $set: { note: 'x' } }), 'entry 3 was changed'],
    ['removal in the middle', () => entries().deleteOne({ _id: 3 }), 'entry 3 is missing'],
    ['removal of the first entries', () => entries().deleteMany({ _id: { $lt: 3 } }), 'entries 1 to 2 are missing'],
    ['reordering', () => swapped(3, 5), 'entry 3 was changed'],
  ])('by %s is detected', async (_how, tamper, problem) => {
    await tamper();
    const { code, text } = await cli('check');
    expect(text).toContain(`tampered with: ${problem}`);
    expect(code).toBe(1);
  });

  it('by removal at the end is detected with the log lines of a service, and verify fails without any', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'anchors-'));
    const file = join(folder, 'gateway.log');
    const key = new Secret(randomBytes(32));
    const env = { AUDIT_ANCHOR_PUBLIC_KEY: anchorPublicKey(key) };
    const sign = createAnchorSigner(key);
    const line = (entry: Entry) => `${JSON.stringify({ level: 'info', message: 'audited', ...anchorOf(entry) })}\n`;
    const signedLine = (entry: Entry) => {
      const statement = { ...anchorOf(entry), anchoredAt: '2026-01-01T00:00:00.000Z' };
      return `${JSON.stringify({ level: 'info', message: 'audited', ...statement, signature: sign(statement) })}\n`;
    };
    const verify = (...more: string[]) => cliWith(env, 'verify', '--anchors', file, ...more);
    try {
      const [head, ...before] = await audit.list({ limit: 9 });
      if (head === undefined) throw new Error('the log is empty');
      const unsigned = [head, ...before].map(line).join('');
      writeFileSync(file, `${unsigned}${signedLine(head)}no json\n{"message":"answered","sequence":9}\n`);
      expect(await verify()).toMatchObject({
        code: 0,
        text: expect.stringContaining('newest anchor: entry 6, signed at 2026-01-01T00:00:00.000Z') as string,
      });
      const text = expect.stringContaining('not verified: there is no') as string;
      expect(await cliWith(env, 'verify')).toMatchObject({ code: 1, text });
      const keyless = await cli('verify', '--anchors', file);
      expect(keyless).toMatchObject({
        code: 1,
        text: expect.stringContaining('is not set, so there is no signed') as string,
      });
      await entries().deleteMany({ _id: { $gt: 4 } });
      const cut = await verify();
      expect([cut.code, cut.text]).toEqual([1, expect.stringContaining('tampered with: the log ends before entry 6')]);
      const last = before.find(({ sequence }) => sequence === 4) as Entry;
      writeFileSync(file, line(last));
      expect(await verify()).toMatchObject({
        code: 1,
        text: expect.stringContaining('there is no signed anchor') as string,
      });
      expect(await verify('--unsigned')).toMatchObject({ code: 0 });
      writeFileSync(file, '');
      expect(await verify('--unsigned')).toMatchObject({ code: 1 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('by removal at the end is detected with a head that was written down', async () => {
    const written = await head();
    await entries().deleteMany({ _id: { $gt: 4 } });
    expect(await cli('check')).toMatchObject({ code: 0 });
    const { code, text } = await cli('verify', '--expect', written);
    expect(text).toContain('tampered with: the log ends before entry 6, which was there');
    expect(code).toBe(1);
    await someActions();
    expect((await cli('verify', '--expect', written)).text).toContain('tampered with: entry 6 had the hash');
  });

  async function swapped(one: number, other: number): Promise<void> {
    const [first, second] = await entries()
      .find({ _id: { $in: [one, other] } })
      .sort({ _id: 1 })
      .toArray();
    if (first === undefined || second === undefined) throw new Error('nothing to swap');
    const [{ _id: _one, ...earlier }, { _id: _other, ...later }] = [first, second];
    await entries().replaceOne({ _id: one }, later);
    await entries().replaceOne({ _id: other }, earlier);
  }
});

describe('the list', () => {
  beforeEach(() => someActions());

  it('is filtered, newest first, in pages', async () => {
    expect((await cli('list', '--limit', '2')).text).toMatch(
      /^sequence\t.*\n6\t.*\n5\t.*\n2 entries\nmore: --before 5$/,
    );
    expect((await cli('list', '--limit', '5', '--before', '3')).text).toMatch(/\n2\t.*\n1\t.*\n2 entries$/);
    const { text } = await cli('list', '--subject', 'shop_2');
    expect(text).toMatch(
      /\n4\t\S+\talice\talice@desk\t-\taccount.suspend\tshop_2\tdone \(of 3\)\t-\t\{"state":"suspended","revision":2\}/,
    );
    expect((await cli('list', '--operator', 'bob')).text).toBe('0 entries');
    expect((await cli('list', '--action', 'account.close')).text).toBe('0 entries');
    expect((await cli('list', '--since', '2000-01-01', '--until', '2001-01-01')).text).toBe('0 entries');
    expect((await cli('list', '--since', '2000-01-01')).text).toContain('6 entries');
  });
});

describe('names that would forge lines or break the chain', () => {
  it('stay one line each, and the log verifies', async () => {
    const forged = { name: 'al\nice', from: 'desk\u001b[2J\u{1f4a9}' };
    const subject = `account a\n2\t2020-01-01T00:00:00.000Z\tbob${'x'.repeat(100)}\ud83d`;
    await audit.record({ operator: forged, action: 'payouts.hold', subject }, () => Promise.resolve());
    const { code, text } = await cli('list');
    expect(code).toBe(0);
    expect(text.split('\n')).toHaveLength(4);
    expect(text).toMatch(/^[\x20-\x7e\t\n]+$/);
    expect(await cli('check')).toMatchObject({ code: 0 });
  });

  it('in a field are stored so that the hash stays right', async () => {
    const before = { state: 'half \ud83d', limits: { '\ud83d': 1 } };
    await audit.record({ operator, action: 'account.change', subject: 'acme_shop', before }, () => Promise.resolve());
    expect(await cli('check')).toMatchObject({ code: 0 });
  });

  it('are escaped when somebody else has stored them', async () => {
    await someActions();
    await entries().updateOne({ _id: 3 }, { $set: { subject: 'a\n9\u009bb' } });
    expect((await cli('list')).text).toContain('\ta\\u000a9\\u009bb\t');
  });
});

describe('retention', () => {
  const expiry = async () => (await entries().indexes()).find(({ name }) => name === 'expiry')?.expireAfterSeconds;

  it('is a TTL index that follows the setting of its owner', async () => {
    expect(await expiry()).toBe(RETENTION_DAYS * 86_400);
    await audit.ensureIndexes(given(400));
    expect(await expiry()).toBe(400 * 86_400);
  });

  it('is not changed by those who write and read the log, whatever their settings are', async () => {
    await (await open()).close();
    await cliWith({ AUDIT_RETENTION_DAYS: '365' }, 'list');
    await cliWith({ AUDIT_RETENTION_DAYS: '365' }, 'verify');
    expect(await expiry()).toBe(RETENTION_DAYS * 86_400);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['shortened', () => audit.ensureIndexes(given(1)), 'removes entries after 1 days'],
    ['removed', () => entries().dropIndex('expiry'), 'never removes entries'],
    [
      'undercut by another index',
      () => entries().createIndex({ previousAt: 1 }, { name: 'other', expireAfterSeconds: 86_400 }),
      'removes entries after 1 days',
    ],
  ])('that is %s is reported', async (_how, change, problem) => {
    await someActions();
    await change();
    const { code, text } = await cli('check');
    expect(text).toContain(`tampered with: the database ${problem}, but AUDIT_RETENTION_DAYS is ${RETENTION_DAYS}`);
    expect(code).toBe(1);
    await entries().dropIndexes();
  });

  it('that removed everything is reported', async () => {
    await someActions();
    await entries().deleteMany({});
    const { code, text } = await cli('check');
    expect(text).toContain('tampered with: the log is empty');
    expect(code).toBe(1);
  });

  it('may remove the oldest entries, and nothing younger', async () => {
    const year = 365 * 86_400_000;
    const earlier = await open({ now: () => Date.now() - 10 * year });
    await earlier.record({ operator, action: 'account.close', subject: 'old_shop' }, () => Promise.resolve());
    await earlier.close();
    await someActions();
    const written = await head();
    await entries().deleteMany({ at: { $lt: new Date(Date.now() - 6 * year) } });
    expect(await cli('verify', '--expect', written)).toMatchObject({
      code: 0,
      text: expect.stringContaining('6 entries'),
    });
    await entries().deleteOne({ _id: 3 });
    expect((await cli('check')).text).toContain('entries 1 to 3 are missing');
  });
});
