import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAudit } from '@gateway/audit';
import { services, topics } from '@gateway/contracts';
import { listTopics, topicOf } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { Space, TestCallers } from '@gateway/testing';
import { createCallers, environmentOf, kafkaOf, openSpace, silentLogger } from '@gateway/testing';
import { startMerchant } from './support/merchant';
import { startSystem } from './support/system';
import { readPasswords } from '../deploy/operations/src/passwords';
import { runProvision } from '../deploy/operations/src/provision';

const DATABASES = [...Object.values(services).map(({ database }) => database as string), 'vault', 'audit'];
/** Its service makes them. */
const PROVISIONED = DATABASES.filter((name) => name !== 'simulator');

let callers: TestCallers;
let directory: string;
beforeAll(() => {
  callers = createCallers();
  directory = mkdtempSync(join(tmpdir(), 'provision-'));
});
afterAll(() => {
  callers.remove();
  rmSync(directory, { recursive: true });
});

async function run(env: Record<string, string>, args: readonly string[] = []) {
  const lines: string[] = [];
  return { exitCode: await runProvision(args, env, (line) => lines.push(line)), lines };
}

function settingsOf(space: Space): Record<string, string> {
  return {
    ...environmentOf(space),
    DEMO_ACCOUNTS: 'yes',
    CALLERS_FILE: callers.file,
    IDENTITY_TOKEN: callers.token('operator'),
  };
}

/** Newest first. */
async function auditedProvisioning({ mongoUri: uri, databasePrefix }: Space) {
  const audit = await openAudit({ uri, databasePrefix, logger: silentLogger });
  try {
    return await audit.list({ action: 'installation.provision', limit: 9 });
  } finally {
    await audit.close();
  }
}

/** Every index of the gateway's databases, with its options. */
async function indexesOf(space: Space): Promise<Map<string, object[]>> {
  const found = new Map<string, object[]>();
  for (const name of PROVISIONED) {
    const mongo = await connectMongo({ uri: space.mongoUri, database: space.databasePrefix + name });
    for (const { name: collection } of (await mongo.mongoose.db?.listCollections().toArray()) ?? []) {
      found.set(`${name}.${collection}`, await mongo.collection(collection).indexes());
    }
    await mongo.close();
  }
  return found;
}

test('it makes every index that the services want, and nothing is left for them to make', async () => {
  const merchant = await startMerchant();
  let provisioned = new Map<string, object[]>();
  const system = await startSystem('provisioned', {
    withPayouts: true,
    async prepare(space) {
      const settings = settingsOf(space);
      expect(await run(settings)).toMatchObject({ exitCode: 0 });
      provisioned = await indexesOf(space);
      // What is there stays.
      const again = await run(settings);
      expect(again.exitCode).toBe(0);
      expect(again.lines).toContainEqual(expect.stringMatching(/^topics: 0 created, 0 reconfigured /));
      expect(again.lines).toContainEqual('demo accounts: all there');
      expect(await indexesOf(space)).toEqual(provisioned);
      expect(await auditedProvisioning(space)).toMatchObject([
        { operator: 'operator', phase: 'done', after: { did: expect.arrayContaining(['demo accounts: all there']) } },
        { operator: 'operator', phase: 'intent' },
        { operator: 'operator', phase: 'done' },
        { operator: 'operator', phase: 'intent' },
      ]);
    },
  });
  try {
    await system.startThreeds();
    await system.startExpiry();
    await system.startDispatcher(merchant.ca);
    expect(provisioned.size).toBeGreaterThan(PROVISIONED.length);
    const afterwards = await indexesOf(system.space);
    for (const [collection, indexes] of provisioned)
      expect([collection, afterwards.get(collection)]).toEqual([collection, indexes]);
    const beyond = [...afterwards].filter(
      ([collection, indexes]) => !provisioned.has(collection) && indexes.length > 1,
    );
    expect(beyond).toEqual([]);
  } finally {
    await system.stop();
    await merchant.close();
  }
});

describe('a retention that the database has', () => {
  const DAY_SECONDS = 86_400;
  const [YEARS, LONGER] = [3_650, 4_000];
  let space: Space;
  beforeAll(async () => {
    space = await openSpace('provision');
  });
  afterAll(() => space.remove());

  /** How long documents are kept, in days, by collection. */
  async function retentions(): Promise<Record<string, number>> {
    const indexes = await indexesOf(space);
    const kept = [...indexes].flatMap(([collection, [...all]]) =>
      (all as { name: string; expireAfterSeconds?: number }[])
        .filter(({ name }) => name === 'expiry')
        .map(({ expireAfterSeconds = 0 }) => [collection, expireAfterSeconds / DAY_SECONDS] as const),
    );
    return Object.fromEntries(kept.filter(([, days]) => days > 0));
  }

  const retaining = (days: number) =>
    Object.fromEntries(['RECORD', 'CALLBACK', 'AUDIT'].map((what) => [`${what}_RETENTION_DAYS`, String(days)]));

  test('is never shortened, and lengthened when the settings say so', async () => {
    const settings = { ...settingsOf(space), DEMO_ACCOUNTS: 'no' };
    expect(await run({ ...settings, ...retaining(YEARS) })).toMatchObject({ exitCode: 0 });
    const years = await retentions();
    expect(years).toMatchObject({ 'edge.journal': YEARS, 'callbacks.attempts': YEARS, 'audit.entries': YEARS });
    expect(years).toMatchObject({ 'cards.payments': YEARS + 1, 'payouts.payouts': YEARS + 1 });

    const unset = await run(settings);
    expect(await retentions()).toEqual(years);
    expect(unset.lines).toContainEqual(
      expect.stringMatching(
        /^Kept for longer than the settings say: .*edge\.journal for 3650 days, not 760; .*audit\.entries for 3650 days, not 1825\. Set that time to keep it\. Provisioning never shortens/,
      ),
    );
    await run({ ...settings, ...retaining(400) });
    expect(await retentions()).toEqual(years);

    const longer = await run({ ...settings, ...retaining(LONGER) });
    expect(await retentions()).toMatchObject({ 'edge.journal': LONGER, 'payouts.payouts': LONGER + 1 });
    expect(longer.lines.join()).not.toContain('Kept for longer');
  });
});

describe('topics', () => {
  let space: Space;
  beforeAll(async () => {
    space = await openSpace('provision');
  });
  afterAll(() => space.remove());

  test('are created with the settings, and corrected later', async () => {
    const prefix = `${space.topicPrefix}new.`;
    const settings = { ...settingsOf(space), DEMO_ACCOUNTS: 'no', TOPIC_PREFIX: prefix };
    const first = await run({ ...settings, KAFKA_PARTITIONS: '2' });
    expect(first.exitCode).toBe(0);
    expect(first.lines.toSorted()).toEqual([
      'indexes: edge, cards, threeds, payouts, expiry, callbacks, vault, audit, accounts',
      expect.stringMatching(/^topics: \d+ created, 0 reconfigured \(replication factor 1, min\.insync\.replicas 1\)$/),
    ]);
    const created = await listTopics({ kafka: kafkaOf(space), prefix });
    expect(created.filter(({ name }) => !name.includes('.dlq.')).map(({ partitions }) => partitions)).toEqual(
      Object.keys(topics).map(() => 2),
    );
    const second = await run({ ...settings, KAFKA_PARTITIONS: '3', DEAD_LETTER_RETENTION_DAYS: '7' });
    expect(second.exitCode).toBe(0);
    expect(second.lines).toContainEqual(
      expect.stringMatching(/^topics: 0 created, [1-9]\d* reconfigured, [1-9]\d* without messages grown \(/),
    );
  });

  test('with messages and too few partitions are a failure, after everything else is done', async () => {
    const prefix = `${space.topicPrefix}used.`;
    const settings = { ...settingsOf(space), DEMO_ACCOUNTS: 'no', TOPIC_PREFIX: prefix };
    expect(await run({ ...settings, KAFKA_PARTITIONS: '2' })).toMatchObject({ exitCode: 0 });
    const producer = kafkaOf(space).producer();
    await producer.connect();
    await producer.send({ topic: topicOf(prefix, 'cardCommands'), messages: [{ key: 'k', value: 'v' }] });
    await producer.disconnect();
    const { exitCode, lines } = await run({ ...settings, KAFKA_PARTITIONS: '3' });
    expect(exitCode).toBe(1);
    expect(lines).toContainEqual(expect.stringMatching(/^topics: 0 created, .* without messages grown/));
    expect(lines.at(-1)).toBe(
      `provision failed: topics with messages have fewer partitions than KAFKA_PARTITIONS (3): ${prefix}card.commands.v1. ` +
        'Grow them (docs/runbook.md, "Growing the number of partitions"), or set KAFKA_PARTITIONS to what they have',
    );
  });
});

describe('settings', () => {
  const SERVERS = { KAFKA_BROKERS: '127.0.0.1:9', MONGODB_URI: 'mongodb://127.0.0.1:9' };
  const SAFE = {
    NODE_ENV: 'production',
    KAFKA_BROKERS: '127.0.0.1:9',
    KAFKA_USER: 'admin',
    KAFKA_PASSWORD: 'x',
    MONGODB_URI: 'mongodb://admin:x@127.0.0.1:9/',
  };

  test.each<[string, Record<string, string>, string]>([
    [
      'everything that is missing or wrong at once',
      { KAFKA_PARTITIONS: '0', DEMO_ACCOUNTS: 'yes' },
      'KAFKA_BROKERS is not set; MONGODB_URI is not set; ACCOUNT_KEYS is not set; SIGNING_PUBLIC_KEY is not set; IDENTITY_TOKEN is not set; CALLERS_FILE is not set; KAFKA_PARTITIONS must be >= 1',
    ],
    ['a principal without a user', { ...SERVERS, KAFKA_PRINCIPAL: 'User:all' }, 'KAFKA_PRINCIPAL must match pattern'],
    [
      'passwords of users without their access',
      { ...SERVERS, KAFKA_PASSWORDS_DIR: '/none', MONGODB_PASSWORDS_DIR: '/none' },
      'KAFKA_PASSWORDS_DIR needs KAFKA_ACCESS=apply; MONGODB_PASSWORDS_DIR needs MONGODB_ACCESS=apply.',
    ],
    [
      'demo accounts in production',
      {
        ...SAFE,
        DEMO_ACCOUNTS: 'yes',
        ACCOUNT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
        SIGNING_PUBLIC_KEY: `k:${Buffer.alloc(32, 2).toString('base64')}`,
        CALLERS_FILE: '/none',
        IDENTITY_TOKEN: 'x'.repeat(32),
      },
      'DEMO_ACCOUNTS is yes, and the passwords of the demo accounts are public.',
    ],
    [
      'anonymous connections in production',
      { ...SERVERS, NODE_ENV: 'production' },
      'Connections to Kafka are anonymous: set KAFKA_USER and KAFKA_PASSWORD, or KAFKA_CERT_FILE and KAFKA_KEY_FILE. MONGODB_URI names no user.',
    ],
  ])('refused: %s', async (_name, env, sentence) => {
    expect(await run(env)).toEqual({ exitCode: 2, lines: [expect.stringContaining(sentence)] });
  });

  test('a server that is away is a failure', async () => {
    const { exitCode, lines } = await run(SERVERS);
    expect([exitCode, lines]).toEqual([1, [expect.stringContaining('provision failed: ')]]);
  });

  test('arguments print the usage', async () => {
    expect(await run(SERVERS, ['help'])).toEqual({
      exitCode: 0,
      lines: [expect.stringContaining('usage: npm run provision')],
    });
    expect(await run(SERVERS, ['now'])).toMatchObject({ exitCode: 2 });
  });
});

describe('a folder of passwords', () => {
  let count = 0;
  function folderWith(files: Record<string, string>): string {
    const folder = join(directory, `passwords-${(count += 1)}`);
    mkdirSync(folder);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return folder;
  }
  const LONG = 'a long enough password';

  test('gives each user the content of its file, without the newline', () => {
    const folder = folderWith({ payout: `${LONG}\n`, threeds: LONG, '..data': 'of Kubernetes' });
    expect(readPasswords(folder, ['payout', 'threeds', 'vault'])).toEqual(
      new Map([
        ['payout', LONG],
        ['threeds', LONG],
      ]),
    );
  });

  test('is refused with everything that is wrong', () => {
    const folder = folderWith({ payout: 'short', stranger: LONG, threeds: `${LONG}\r` });
    expect(() => readPasswords(folder, ['payout', 'threeds'])).toThrow(
      `Configuration: ${folder}/payout has fewer than 16 characters; ${folder} has a file stranger, and there is no such user; ${folder}/threeds has a carriage return (CR).`,
    );
    expect(() => readPasswords(join(directory, 'none'), [])).toThrow('the folder of passwords cannot be read');
  });
});
