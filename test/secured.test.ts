import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs';
import { openAccounts } from '@gateway/accounts';
import type { ServiceDeclaration, TopicName } from '@gateway/contracts';
import {
  commandLines,
  InitiatePayout,
  outsideReaders,
  ReplayRequested,
  services,
  TEST_CARDS,
  topics,
  usersOf,
} from '@gateway/contracts';
import type { KafkaClient } from '@gateway/messaging';
import { createPublisher, createTopics, createWorker, deadLetterTopicOf, on, topicOf } from '@gateway/messaging';
import { connectMongo, testEndIndex, watchLogin } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import type { SecuredServers, Space } from '@gateway/testing';
import {
  accountKeysOf,
  createCallers,
  kafkaOf,
  openSecuredServers,
  silentLogger,
  startPublisher,
  until,
} from '@gateway/testing';
import { runProvision } from '../deploy/operations/src/provision';
import { runCli as runAuditCli } from '../libs/audit/src/command-line';
import { runCli as runDeadLetterCli } from '../libs/messaging/src/cli';
import { runKafkaCli } from '../libs/messaging/src/kafka-cli';
import type { TopicUse } from '../libs/messaging/src/topic-use';
import { writtenTopics } from '../libs/messaging/src/topic-use';
import { runMongoCli } from '../libs/mongo/src/cli';
import { runDoctor } from '../deploy/operations/src/doctor/doctor';
import { startForwarder } from './support/forwarder';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { build, runScript } from './support/processes';
import type { PayoutClient } from './support/payouts';
import { payoutClient } from './support/payouts';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, clientOf, CREDENTIALS, recordsOf, startSystem } from './support/system';

const all = Object.values<ServiceDeclaration>(services);
const onKafka = all.filter(({ consumes, produces }) => consumes.length + produces.length > 0);
const databaseUsers = [...all, ...Object.values(commandLines)].map(({ name }) => name);
const [, SECOND] = usersOf(services.payout);
const analyst = outsideReaders.analytics;
const everyTopic = Object.keys(topics) as TopicName[];
const PAYOUT = services.payout.name;
const UNAUTHORIZED = 13;
const DAY_SECONDS = 86_400;

const callers = createCallers();
let servers: SecuredServers;
let space: Space;
let system: System;
let merchant: Merchant;
let demo: PayoutClient;
let payoutsReady: () => Promise<Body>;
let admin: ReturnType<KafkaClient['admin']>;
/** In order of opening. */
const closers: (() => Promise<unknown>)[] = [];

const nameOf = (topic: TopicName): string => topicOf(space.topicPrefix, topic);
const databaseOf = (name: string): string => space.databasePrefix + name;
const uriOf = (user: string): string => servers.mongoUriOf(user, space.databasePrefix);
const clientAs = (user: string): KafkaClient =>
  kafkaOf({ brokers: servers.brokers, kafkaAccess: servers.kafkaUser(user) });
const send = async (fields: Body): Promise<Body> => (await system.send(fields)).data;
const callbackUrl = () => ({ callback_url: `${merchant.url}/callback` });

/** Runs a command line as this user of Kafka. */
async function run(cli: typeof runKafkaCli, user: string, args: readonly string[], prefix = space.topicPrefix) {
  const lines: string[] = [];
  const env = {
    ...servers.kafkaUser(user),
    KAFKA_BROKERS: servers.brokers,
    TOPIC_PREFIX: prefix,
    MONGODB_URI: uriOf(user),
    DATABASE_PREFIX: space.databasePrefix,
    CALLERS_FILE: callers.file,
    IDENTITY_TOKEN: callers.token('operator'),
  };
  return { exitCode: await cli(args, env, (line) => lines.push(line)), lines };
}

async function mongo(args: readonly string[], input = ''): Promise<void> {
  const lines: string[] = [];
  const env = { MONGODB_URI: servers.mongoUri, DATABASE_PREFIX: space.databasePrefix };
  const exitCode = await runMongoCli(
    args,
    env,
    (line) => lines.push(line),
    async () => `${input}\n`,
  );
  expect([exitCode, lines]).toEqual([0, expect.anything()]);
}

/** Gives every user what the declarations call for. */
async function grantEverything(): Promise<void> {
  expect(await run(runKafkaCli, 'admin', ['acls', '--apply'])).toMatchObject({ exitCode: 0 });
  await mongo(['roles', '--apply']);
  for (const user of databaseUsers) await mongo(['user', user], servers.passwordOf(user));
}

function publisherOn(kafka: KafkaClient, uses: TopicUse, limits = {}) {
  const metrics = createMetrics('test', { processFigures: false });
  return createPublisher({
    kafka,
    source: 'test',
    topicPrefix: space.topicPrefix,
    uses,
    metrics,
    limits,
    logger: silentLogger,
  });
}

const producing = (...produces: TopicName[]): TopicUse => ({ consumes: [], produces });

/** Connects and disconnects. */
async function connectTo(kafka: KafkaClient, uses: TopicUse): Promise<void> {
  const publisher = publisherOn(kafka, uses);
  await publisher.start();
  await publisher.stop();
}

beforeAll(async () => {
  servers = await openSecuredServers({ users: [...databaseUsers, analyst.name], certified: [PAYOUT, 'stranger'] });
  closers.push(() => servers.close());
  merchant = await startMerchant();
  closers.push(() => merchant.close());
  system = await startSystem('secured', {
    servers,
    settings: { AUTH_HOLD_SECONDS: '1' },
    settingsOf: (name) => ({ ...servers.kafkaUser(name), MONGODB_URI: uriOf(name) }),
    async prepare(opened) {
      space = opened;
      await grantEverything();
    },
  });
  closers.push(() => system.stop());
  await system.startThreeds();
  const payouts = await system.startPayouts();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
  demo = payoutClient(system);
  payoutsReady = async () => (await clientOf(payouts.ports.ops).get<Body>('/health/ready')).data;
  admin = clientAs('admin').admin();
  await admin.connect();
  closers.push(() => admin.disconnect());
}, 240_000);

afterAll(async () => {
  for (const close of closers.reverse()) await close();
  callers.remove();
}, 120_000);

describe('with a user of its own at each server, every service does its part', () => {
  test('a SALE, a SALE3D with its callback, a payout with its callback, an expiry', async () => {
    expect(await send(cardRequest('SALE'))).toMatchObject({ status: 'success', code: 0 });

    const returns = { ...callbackUrl(), redirect_url: `${merchant.url}/back` };
    const card = { card_number: TEST_CARDS.frictionless.visa };
    const authenticated = await send(cardRequest('SALE3D', { ...card, ...returns }));
    expect((await merchant.callbackOf(authenticated['reference'])).get('code')).toBe('0');

    const paid = await demo.pay(callbackUrl());
    expect((await merchant.callbackOf(paid['reference'])).get('code')).toBe('0');

    const { reference } = await send(cardRequest('AUTH'));
    const voids = checkOf({ transaction_unique_id: `expiry-${String(reference)}` });
    await until('the hold ends', async () => recordsOf(await send(voids))[0]?.status === 'SUCCESS', 60_000);
    expect(await system.readiness()).toEqual(Array.from({ length: onKafka.length }, () => 200));
  }, 120_000);

  test('the clock of a sandbox account, which all that wait for a time follow', async () => {
    const { data } = await system.http.post<Body>('/api/sandbox/clock', { ...CREDENTIALS, advance: 60 });
    expect(data).toMatchObject({ status: 'success', ahead: 60, followed: true });
  });

  test('a service changes how long its own database keeps records', async () => {
    const stored = await connectMongo({ uri: servers.mongoUri, database: databaseOf(services.payout.database) });
    const timesToLive = async (): Promise<number[]> => {
      const indexes = await stored.collection('payouts').indexes();
      const ofAll = indexes.filter(({ name }) => name !== testEndIndex.name);
      return ofAll.flatMap(({ expireAfterSeconds }) => expireAfterSeconds ?? []);
    };
    const [before = 0] = await timesToLive();
    // To a longer time, and back to the default.
    for (const [days, change] of [
      ['800', 40],
      ['760', 0],
    ] as const) {
      const replica = await system.startPayouts({ RECORD_RETENTION_DAYS: days });
      expect(await timesToLive()).toEqual([before + change * DAY_SECONDS]);
      await replica.stop();
    }
    await stored.close();
  });

  test('no service declares more than it does: every topic has messages, every group commits', async () => {
    for (const topic of new Set(onKafka.flatMap(({ produces }) => produces))) {
      const ends = await admin.fetchTopicOffsets(nameOf(topic));
      expect([topic, ends.reduce((sum, { high }) => sum + Number(high), 0)]).not.toEqual([topic, 0]);
    }
    for (const { name, consumes: all } of onKafka.filter((service) => service !== services.apiEdge)) {
      // Nobody has asked for a replay yet.
      const consumes = all.filter((topic) => topic !== 'deadLetterReplays');
      const groupId = space.topicPrefix + name;
      await until(`${name} has committed on all its topics`, async () => {
        const found = await admin.fetchOffsets({ groupId, topics: consumes.map(nameOf) });
        return found.every(({ partitions }) => partitions.some(({ offset }) => Number(offset) > 0));
      });
    }
  });

  test('each consumer writes its dead letters, and dlq reads and replays them', async () => {
    const poison: [TopicName, string][] = [
      ['cardCommands', 'ChargeCard'],
      ['cardExpiries', 'ExpireAuthorization'],
      ['cardEvents', 'CardAuthorized'],
      ['payoutCommands', 'InitiatePayout'],
      ['payoutEvents', 'PayoutSettled'],
      ['threedsCommands', 'AuthenticateCardholder'],
      ['threedsEvents', 'CardholderAuthenticated'],
    ];
    const publisher = await startPublisher(space);
    for (const [topic, type] of poison) {
      const headers = { ce_type: type };
      await publisher.publishRaw({ topic: nameOf(topic), key: 'K', value: Buffer.from('{'), headers });
    }
    await publisher.stop();
    const readers = onKafka.flatMap(({ consumes }) => consumes).filter((topic) => 'deadLetters' in topics[topic]);
    const letters = await until('all are dead letters', async () => {
      const { exitCode, lines } = await run(runDeadLetterCli, 'dlq', ['list']);
      expect([exitCode, lines]).toEqual([0, lines]);
      return lines.at(-1) === `${readers.length} dead letters` && lines;
    });
    const [topic = '', partition = '', offset = ''] = letters[0]?.split('\t') ?? [];
    expect(await run(runDeadLetterCli, 'dlq', ['replay', topic, partition, offset])).toMatchObject({ exitCode: 0 });
    // It is as broken as before, so its readers dead-letter it again.
    await until('the newest is handled again', async () => {
      const { lines } = await run(runDeadLetterCli, 'dlq', ['list', '--topic', topic]);
      const again = lines.length > 1 ? lines[0]?.split('\t')[2] : undefined;
      return Number(again) > Number(offset) || undefined;
    });
  });

  test('a reader outside reads all events, in its own group', async () => {
    await build();
    const directory = mkdtempSync(join(tmpdir(), 'analytics-'));
    const read = (user: string, group: string) =>
      runScript(join('examples', 'analytics', 'dist', 'main.js'), {
        ...servers.kafkaUser(user),
        KAFKA_BROKERS: servers.brokers,
        TOPIC_PREFIX: space.topicPrefix,
        ANALYTICS_DIR: directory,
        ANALYTICS_GROUP: group,
      });
    const { name } = analyst;
    expect(await read(name, name)).toEqual({ code: 0, output: expect.stringMatching(/^complete to .+ 0 gaps/m) });
    expect(await read(name, `${name}.finance`)).toMatchObject({ code: 0 });
    expect(await read(name, PAYOUT)).toEqual({
      code: 1,
      output: expect.stringMatching(/^analytics: The group .*payout cannot be read in: .+\.$/m),
    });
    rmSync(directory, { recursive: true });
  }, 60_000);

  test('kafka creates topics and grows them', async () => {
    const prefix = `${space.topicPrefix}new.`;
    const names = writtenTopics(prefix, { consumes: everyTopic, produces: everyTopic });
    expect(await run(runKafkaCli, 'admin', ['acls', '--apply'], prefix)).toMatchObject({ exitCode: 0 });
    expect((await createTopics({ kafka: clientAs('kafka'), prefix })).created.toSorted()).toEqual(names.toSorted());
    expect(await run(runKafkaCli, 'kafka', ['grow', '--partitions', '13'], prefix)).toMatchObject({ exitCode: 0 });
    const line = [`${prefix}${topics.cardEvents.name}`, 13, 1, 0].join('\t');
    const listed = () => run(runKafkaCli, 'kafka', ['topics'], prefix);
    await until('the topics have grown', async () => (await listed()).lines.includes(line));
    const refused = await run(runKafkaCli, PAYOUT, ['grow', '--partitions', '14']);
    expect(refused).toMatchObject({ exitCode: 1, lines: [expect.stringContaining('grow failed: ')] });
  });
});

describe('provisioning by administrators', () => {
  const folder = mkdtempSync(join(tmpdir(), 'passwords-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function provision(env: Record<string, string>) {
    const lines: string[] = [];
    const own = {
      ...servers.kafkaUser('admin'),
      KAFKA_BROKERS: servers.brokers,
      MONGODB_URI: servers.mongoUri,
      TOPIC_PREFIX: space.topicPrefix,
      DATABASE_PREFIX: space.databasePrefix,
      KAFKA_ACCESS: 'apply',
      MONGODB_ACCESS: 'apply',
      ...env,
    };
    const exitCode = await runProvision([], { NODE_ENV: 'production', ...own }, (line) => lines.push(line));
    return { exitCode, lines };
  }

  test('finds nothing to grant where the command lines have granted everything', async () => {
    const { exitCode, lines } = await provision({});
    expect([exitCode, lines]).toEqual([
      0,
      expect.arrayContaining([expect.stringMatching(/^Kafka access: 0 of \d+ added, 0 users$/)]),
    ]);
  });

  test('gives users of both servers the passwords of its folders', async () => {
    const password = 'a password of provisioning';
    writeFileSync(join(folder, PAYOUT), `${password}\n`);
    const { exitCode, lines } = await provision({ KAFKA_PASSWORDS_DIR: folder, MONGODB_PASSWORDS_DIR: folder });
    expect([exitCode, lines]).toEqual([0, expect.arrayContaining([expect.stringMatching(/, 1 users$/)])]);
    const kafkaAccess = { ...servers.kafkaUser(PAYOUT), KAFKA_PASSWORD: password };
    await connectTo(kafkaOf({ brokers: servers.brokers, kafkaAccess }), services.payout);
    await expect(connectTo(clientAs(PAYOUT), services.payout)).rejects.toThrow(/authentication/i);
    const uri = uriOf(PAYOUT).replace(servers.passwordOf(PAYOUT), encodeURIComponent(password));
    const connection = await connectMongo({ uri, database: databaseOf(services.payout.database) });
    await connection.close();
    // The other tests go on with the first one.
    writeFileSync(join(folder, PAYOUT), servers.passwordOf(PAYOUT));
    const again = await provision({ KAFKA_PASSWORDS_DIR: folder, MONGODB_PASSWORDS_DIR: folder });
    expect([again.exitCode, again.lines]).toEqual([0, again.lines]);
    await connectTo(clientAs(PAYOUT), services.payout);
  });

  test('says what a user may not do', async () => {
    const { exitCode, lines } = await provision(servers.kafkaUser(PAYOUT));
    expect([exitCode, lines]).toEqual([1, expect.arrayContaining([expect.stringContaining('provision failed: ')])]);
  });
});

test('audit reads and verifies the log, and only its keeper may make an index that empties it', async () => {
  const { exitCode, lines } = await run(runAuditCli, 'audit', ['check']);
  expect([exitCode, lines]).toEqual([0, lines]);
  for (const user of databaseUsers.filter((name) => name !== services.callbackDispatcher.name)) {
    const connection = await connectMongo({ uri: uriOf(user), database: databaseOf('audit') });
    const soon = { name: 'soon', expireAfterSeconds: 1 };
    const made = connection.collection('entries').createIndex({ previousAt: 1 }, soon);
    expect([user, await made.catch(({ code }: { code?: unknown }) => code)]).toEqual([user, UNAUTHORIZED]);
    const command = { collMod: 'entries', index: { name: 'expiry', expireAfterSeconds: 1 } };
    const changed = connection.mongoose.getClient().db(databaseOf('audit')).command(command);
    expect([user, await changed.catch(({ code }: { code?: unknown }) => code)]).toEqual([user, UNAUTHORIZED]);
    await connection.close();
  }
});

test('audit entries name the database user that has written them, whoever the client says it is', async () => {
  const { lines } = await run(runAuditCli, 'audit', ['list', '--action', 'topics.grow']);
  expect(lines.join('\n')).toContain(`\t${databaseOf('kafka')}\ttopics.grow\t`);
});

describe('Kafka refuses', () => {
  const users: readonly Omit<ServiceDeclaration, 'database' | 'shares'>[] = [...onKafka, { ...analyst, produces: [] }];

  test.each(users)('$name all other topics', async ({ name, consumes, produces, reads = [], watches }) => {
    const own = [...consumes, ...produces, ...reads, ...(watches?.topics ?? [])];
    const foreign = {
      consumes: everyTopic.filter((topic) => !consumes.includes(topic)),
      produces: everyTopic.filter((topic) => !own.includes(topic)),
    };
    const error: unknown = await connectTo(clientAs(name), foreign).catch((reason: unknown) => reason);
    const refused = /^Kafka refuses access to (.+); "npm run kafka -- acls"/.exec((error as Error).message)?.[1];
    expect(refused?.split(', ').sort()).toEqual(writtenTopics(space.topicPrefix, foreign).sort());
  });

  test('to let `dlq` write any topic but that of its requests', async () => {
    const foreign = everyTopic.filter((topic) => topic !== 'deadLetterReplays');
    const error: unknown = await connectTo(clientAs('dlq'), producing(...foreign)).catch((reason: unknown) => reason);
    for (const topic of foreign) expect((error as Error).message).toContain(nameOf(topic));
    // It may read these, so it sees them.
    const letters = foreign
      .map((topic) => deadLetterTopicOf(space.topicPrefix, topic))
      .filter((name) => name !== undefined);
    const publisher = publisherOn(clientAs('dlq'), { consumes: foreign, produces: [] }, { publishTimeoutMs: 1_000 });
    await publisher.start();
    for (const topic of letters) {
      const forged = publisher.publishRaw({ topic, key: 'K', value: null, headers: {} });
      await expect(forged).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED');
    }
    await publisher.stop();
  });

  test('to write what a user may only read', async () => {
    const publisher = publisherOn(clientAs(PAYOUT), producing('payoutCommands'), { publishTimeoutMs: 1_000 });
    await publisher.start();
    const message = { topic: nameOf('payoutCommands'), key: 'K', value: null, headers: {} };
    await expect(publisher.publishRaw(message)).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED');
    await publisher.stop();
  });

  test('to read what a user may only write, and to join the group of another', async () => {
    const failures: Error[] = [];
    const consume = (user: string, groupId: string, handler: Parameters<typeof createWorker>[0]['handlers'][number]) =>
      createWorker({
        kafka: clientAs(user),
        groupId,
        topicPrefix: space.topicPrefix,
        handlers: [handler],
        publisher: { publishRaw: async () => undefined },
        onFatal: (error) => failures.push(error),
        metrics: createMetrics('test', { processFigures: false }),
        logger: silentLogger,
      });
    const reader = consume(
      'dlq',
      'dead-letters-test',
      on(ReplayRequested, async () => undefined),
    );
    await reader.start();
    expect(await until('the reader ends', () => failures[0]?.message)).toContain('Topic authorization failed');
    await reader.stop();
    const intruder = consume(
      PAYOUT,
      services.cardProcessing.name,
      on(InitiatePayout, async () => undefined),
    );
    await expect(intruder.start()).rejects.toThrow(
      /^could not join the consumer group .*card-processing: .*; "npm run kafka -- acls" lists what each user needs$/,
    );
  });

  test('whoever has no TLS, no password, a wrong one, the wrong authority, or no certificate', async () => {
    const start = (kafkaAccess: Readonly<Record<string, string>>, brokers = servers.brokers) =>
      connectTo(kafkaOf({ brokers, kafkaAccess }), producing('payoutEvents'));
    const { KAFKA_USER, KAFKA_PASSWORD, ...tls } = servers.kafkaUser(PAYOUT);
    const { KAFKA_CERT_FILE: _cert, KAFKA_KEY_FILE: _key, ...nobody } = servers.kafkaCertificate(PAYOUT);
    // Most of them are tried until the time-out.
    await Promise.all([
      expect(start({})).rejects.toThrow(/^connecting to Kafka took longer than 15000 ms: Metadata at/),
      expect(start(tls)).rejects.toThrow(/^connecting to Kafka took longer than 15000 ms: Metadata at/),
      expect(start({ ...tls, KAFKA_USER: PAYOUT, KAFKA_PASSWORD: 'guessed' })).rejects.toThrow(
        /^Kafka does not let this process in: .*SCRAM.*invalid credentials/,
      ),
      expect(
        start({ KAFKA_TLS: 'on', KAFKA_USER: KAFKA_USER ?? '', KAFKA_PASSWORD: KAFKA_PASSWORD ?? '' }),
      ).rejects.toThrow(/self-signed certificate/),
      expect(start(nobody, servers.certificateBrokers)).rejects.toThrow(/alert bad certificate/),
    ]);
  }, 60_000);
});

test('a client certificate is a user too', async () => {
  const access = await run(runKafkaCli, 'admin', ['acls', '--apply', '--principal', 'User:CN={user}']);
  expect(access.lines).toContain(`User:CN=${PAYOUT}\twrite\ttopic\t${nameOf('payoutEvents')}`);
  const start = (kafkaAccess: Readonly<Record<string, string>>) =>
    connectTo(kafkaOf({ brokers: servers.certificateBrokers, kafkaAccess }), producing('payoutEvents'));
  await start(servers.kafkaCertificate(PAYOUT));
  await expect(start(servers.kafkaCertificate('stranger'))).rejects.toThrow('Kafka refuses access to');
}, 60_000);

describe('a missing access list', () => {
  test('keeps a service from starting, with a sentence that names the topics', async () => {
    await expect(system.startPayouts(servers.kafkaUser(services.simulator.name))).rejects.toThrow(
      /^Kafka refuses access to .*payout\.events\.v1.*; "npm run kafka -- acls" lists what each user needs$/,
    );
  });

  test('makes a running service unready until it is back; nothing is lost', async () => {
    expect(await payoutsReady()).toMatchObject({ ready: true });
    await admin.deleteAcls({
      filters: [
        {
          resourceType: AclResourceTypes.TOPIC,
          resourceName: nameOf('payoutEvents'),
          resourcePatternType: ResourcePatternTypes.LITERAL,
          principal: `User:${PAYOUT}`,
          operation: AclOperationTypes.WRITE,
          permissionType: AclPermissionTypes.ALLOW,
        },
      ],
    });
    const paid = await demo.pay(callbackUrl());
    await until('payout is not ready', async () => (await payoutsReady())['ready'] === false);
    expect(await payoutsReady()).toMatchObject({ checks: { permitted: false, consumer: true, database: true } });
    expect(await run(runKafkaCli, 'admin', ['acls', '--apply'])).toEqual({
      exitCode: 0,
      lines: [`User:${PAYOUT}\twrite\ttopic\t${nameOf('payoutEvents')}`, expect.stringMatching(/^1 of \d+ added$/)],
    });
    await until('payout is ready', async () => (await payoutsReady())['ready'] === true);
    expect((await merchant.callbackOf(paid['reference'])).get('code')).toBe('0');
  }, 120_000);
});

test('the doctor looks with rights of its own, and says which right a user lacks', async () => {
  const examine = async (): Promise<string> => {
    const lines: string[] = [];
    const own = { ...servers.kafkaUser('doctor'), KAFKA_BROKERS: servers.brokers, MONGODB_URI: uriOf('doctor') };
    const prefixes = { TOPIC_PREFIX: space.topicPrefix, DATABASE_PREFIX: space.databasePrefix };
    await runDoctor([], { ...own, ...prefixes }, (line) => lines.push(line));
    return lines.join('\n');
  };
  const healthy = await examine();
  for (const check of ['groups', 'topics', 'access', 'indexes', 'keys', 'certificates'])
    expect(healthy).toMatch(new RegExp(`^ok +${check} `, 'm'));
  const topic = nameOf('deadLetterReplays');
  await admin.deleteAcls({
    filters: [
      {
        resourceType: AclResourceTypes.TOPIC,
        resourceName: topic,
        resourcePatternType: ResourcePatternTypes.LITERAL,
        principal: 'User:dlq',
        operation: AclOperationTypes.WRITE,
        permissionType: AclPermissionTypes.ALLOW,
      },
    ],
  });
  const sentence = `FIX   access        User:dlq may not write topic ${topic}: npm run kafka -- acls --apply grants it.`;
  await until('the doctor says so', async () => (await examine()).includes(sentence));
  expect(await run(runKafkaCli, 'admin', ['acls', '--apply'])).toMatchObject({ exitCode: 0 });
  await until('the right is back', async () => /^ok +access /m.test(await examine()));
}, 60_000);

describe('MongoDB refuses', () => {
  const own = all.map(({ database }) => database);

  /** The error code of an attempt; undefined if it was allowed. */
  const codeOf = (attempt: Promise<unknown>): Promise<unknown> =>
    attempt.then(
      () => undefined,
      (error: { code?: unknown }) => error.code,
    );

  test.each(all)('$name the databases of the others, and dropping its own', async ({ name, database, shares }) => {
    const connection = await connectMongo({ uri: uriOf(name), database: databaseOf(database) });
    const client = connection.mongoose.getClient();
    try {
      const foreign = [...own, 'accounts', 'vault', 'audit'].filter(
        (other) => other !== database && !(other in shares),
      );
      for (const other of foreign) {
        const collection = client.db(databaseOf(other)).collection('cards');
        expect([other, await codeOf(collection.findOne())]).toEqual([other, UNAUTHORIZED]);
        expect([other, await codeOf(collection.insertOne({}))]).toEqual([other, UNAUTHORIZED]);
      }
      for (const [shared, collections] of Object.entries(shares)) {
        const collection = client.db(databaseOf(shared)).collection('others');
        expect([shared, await codeOf(collection.findOne())]).toEqual([shared, UNAUTHORIZED]);
        for (const one of Object.keys(collections)) {
          const drop = client.db(databaseOf(shared)).collection(one).drop();
          expect([one, await codeOf(drop)]).toEqual([one, UNAUTHORIZED]);
        }
      }
      expect(await codeOf(client.db(databaseOf(database)).dropDatabase())).toBe(UNAUTHORIZED);
    } finally {
      await connection.close();
    }
  });

  test('the edge the CVVs, and to remove cards; payout and dispatcher to change accounts', async () => {
    const connectionOf = (user: string, database: string) =>
      connectMongo({ uri: uriOf(user), database: databaseOf(database) });
    const edge = await connectionOf(services.apiEdge.name, 'vault');
    expect(await codeOf(edge.collection('cvvs').findOne())).toBe(UNAUTHORIZED);
    expect(await codeOf(edge.collection('cards').deleteOne({}))).toBe(UNAUTHORIZED);
    await edge.close();
    for (const { name } of [services.payout, services.callbackDispatcher]) {
      const accounts = await connectionOf(name, 'accounts');
      expect(await codeOf(accounts.collection('accounts').updateOne({}, { $set: { state: 'active' } }))).toBe(
        UNAUTHORIZED,
      );
      await accounts.close();
    }
  });

  test('the webhook secrets to all services but callback-dispatcher, which cannot change them', async () => {
    for (const { name } of all) {
      const accounts = await connectMongo({ uri: uriOf(name), database: databaseOf('accounts') });
      const secrets = accounts.collection('webhookSecrets');
      const mayRead = name === services.callbackDispatcher.name;
      expect([name, await codeOf(secrets.findOne())]).toEqual([name, mayRead ? undefined : UNAUTHORIZED]);
      expect([name, await codeOf(secrets.updateOne({}, { $set: { secrets: [] } }))]).toEqual([name, UNAUTHORIZED]);
      await accounts.close();
    }
  });

  test('whoever has no user, a wrong password or no TLS', async () => {
    const nobody = await connectMongo({ uri: servers.mongoUriOf(), database: databaseOf('cards') });
    expect(await codeOf(nobody.collection('payments').findOne())).toBe(UNAUTHORIZED);
    await nobody.close();
    const attempt = (uri: string) => connectMongo({ uri, database: databaseOf('cards') });
    await expect(attempt(uriOf(PAYOUT).replace(`${PAYOUT}:`, `${PAYOUT}:x`))).rejects.toThrow('Authentication failed');
    await expect(attempt(uriOf(PAYOUT).replace(/&tls=.*/, ''))).rejects.toThrow();
  });
});

describe('MongoDB refuses a login while a process runs, which', () => {
  const PASSWORD = 'a password of the second user';
  const AT_ONCE = 20;
  const ORDERS = Array.from({ length: AT_ONCE }, (_, index) => index);

  /** A connection as the second user of payout, whose sockets the test can end. */
  async function open() {
    await mongo(['user', SECOND], PASSWORD);
    const { port, hostname, searchParams } = new URL(servers.mongoUri);
    const forwarder = await startForwarder(() => Number(port));
    const options = new URLSearchParams({ ...Object.fromEntries(searchParams), directConnection: 'true' });
    options.delete('replicaSet');
    const user = `${databaseOf(SECOND)}:${encodeURIComponent(PASSWORD)}`;
    const connection = await connectMongo({
      uri: `mongodb://${user}@${hostname}:${forwarder.port}/?${options.toString()}`,
      database: databaseOf(services.payout.database),
    });
    const failures: Error[] = [];
    const watch = watchLogin({
      login: connection.login,
      logger: silentLogger,
      onFatal: (error) => void failures.push(error),
    });
    watch.start();
    const find = () => connection.collection('payouts').findOne({ _id: 'nobody' as never });
    const close = async (): Promise<void> => {
      await watch.stop();
      await connection.close();
      await forwarder.close();
    };
    return { connection, forwarder, failures, find, close };
  }

  test('goes on with the connections that it has, says so, and takes up new ones when it may', async () => {
    const { connection, failures, find, close } = await open();
    expect(await find()).toBeNull();
    await mongo(['user', SECOND], `${PASSWORD}, changed`);
    for (let round = 0; round < 3; round += 1) {
      expect(await Promise.all(ORDERS.map(find))).toEqual(ORDERS.map(() => null));
    }
    expect([connection.login.accepted(), connection.healthy()]).toEqual([false, true]);
    await mongo(['user', SECOND], PASSWORD);
    await until('new connections are accepted', () => connection.login.accepted(), 15_000);
    await Promise.all(ORDERS.map(find));
    expect(failures).toEqual([]);
    await close();
  }, 60_000);

  test('ends when none is left', async () => {
    const { connection, forwarder, failures, find, close } = await open();
    expect(await find()).toBeNull();
    await mongo(['user', SECOND], `${PASSWORD}, changed`);
    forwarder.reset();
    await expect(find()).rejects.toThrow(/Authentication failed|interrupted|closed|ECONNRESET/);
    await until('the process is to end', () => failures.length > 0, 30_000);
    await expect(find()).rejects.toThrow('Authentication failed');
    expect(connection.login.accepted()).toBe(false);
    expect(failures).toEqual([new Error('MongoDB has refused the login for 10 s, and no connection is left')]);
    await close();
  }, 60_000);
});

test('merchant changes accounts as a user of its own', async () => {
  const accounts = await openAccounts({
    uri: uriOf(commandLines.merchant.name),
    databasePrefix: space.databasePrefix,
    ...accountKeysOf(system.env),
  });
  const merchantAccount = 'secured_shop';
  await accounts.administration.create({ merchantAccount });
  expect(await accounts.administration.get(merchantAccount)).toMatchObject({ merchantAccount });
  expect(await accounts.administration.change(merchantAccount, { rateLimitPerSecond: 7 })).toMatchObject({
    rateLimitPerSecond: 7,
  });
  await accounts.administration.addWebhookSecret(merchantAccount);
  await accounts.administration.retireWebhookSecret(merchantAccount);
  await accounts.close();
});
