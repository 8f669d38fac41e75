import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createMetrics } from '@gateway/service-kit';
import { silentLogger, testServers, until } from '@gateway/testing';
import type { BankNews, NewsVerdict, PaymentInstruction } from '../../../application/bank-ports';
import { createHolds } from '../../mongo/holds';
import type { Iso20022Connector } from './connector';
import { createIso20022Connector } from './connector';
import { instruction, OTHER_IBAN, OUR_IBAN, pain002, PAYING_ACCOUNT, testSettings } from './iso20022.fixture';
import { createMembers } from './members';
import { openRecords } from './records';
import { createSchemaCheck, PAIN_001 } from './schema-check';

const NOON = Date.parse('2026-11-21T12:00:00Z');

let mongo: MongoConnection;
const schemaCheck = createSchemaCheck();

beforeAll(async () => {
  const database = `iso20022-${randomBytes(4).toString('hex')}`;
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  await createHolds(mongo, { now: () => NOON }).ensureDocument();
});
afterAll(async () => {
  await schemaCheck.stop();
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

interface Bench {
  env: Record<string, string>;
  clock: { now: number };
  news: BankNews[];
  /** The log. */
  lines: string[];
  /** A gauge's value. */
  figure(name: string): Promise<number | undefined>;
  connector: Iso20022Connector;
  another(move?: (from: string, to: string) => Promise<void>): Iso20022Connector;
  start(take?: (news: BankNews) => Promise<NewsVerdict>): Promise<void>;
  outbox(): string[];
  inbox(folder?: string): string[];
  /** Like an agent: writes under another name, then renames. Dated a minute ago. */
  deliver(name: string, content: string | Buffer): void;
}

let open: Iso20022Connector[] = [];

function bench(
  options: {
    env?: Record<string, string>;
    move?: (from: string, to: string) => Promise<void>;
    answerWithinMs?: number;
  } = {},
): Bench {
  const env = testSettings(options.env);
  const clock = { now: NOON };
  const news: BankNews[] = [];
  const lines: string[] = [];
  const metrics = createMetrics('test', { processFigures: false });
  const another = (move?: (from: string, to: string) => Promise<void>) => {
    const connector = createIso20022Connector({
      mongo,
      env,
      logger: loggerInto(lines),
      // Each replica has its own metrics.
      metrics: open.length === 0 ? metrics : createMetrics('test', { processFigures: false }),
      clock: clockAt(() => clock.now),
      holds: createHolds(mongo, { now: () => clock.now }),
      accounts: { findLatest: async () => PAYING_ACCOUNT },
      ...(move === undefined ? {} : { move }),
      ...(options.answerWithinMs === undefined ? {} : { answerWithinMs: options.answerWithinMs }),
    });
    open.push(connector);
    return connector;
  };
  const connector = another(options.move);
  const inboxDir = String(env['ISO20022_INBOX_DIR']);
  return {
    env,
    clock,
    news,
    lines,
    async figure(name) {
      const figure = await metrics.getSingleMetric(name)?.get();
      return figure?.values[0]?.value;
    },
    connector,
    another,
    start: (take) =>
      connector.start(
        take ??
          (async (one) => {
            news.push(one);
            return 'applied';
          }),
      ),
    outbox: () => listed(String(env['ISO20022_OUTBOX_DIR'])),
    inbox: (folder = '.') => listed(join(inboxDir, folder)).filter((name) => folder === '.' || !isPartial(name)),
    deliver(name, content) {
      mkdirSync(inboxDir, { recursive: true });
      const partial = join(inboxDir, `${name}.part`);
      writeFileSync(partial, content);
      const aMinuteAgo = clock.now / 1_000 - 60;
      utimesSync(partial, aMinuteAgo, aMinuteAgo);
      renameSync(partial, join(inboxDir, name));
    },
  };
}

function loggerInto(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>) => void lines.push(`${message} ${inspect(fields)}`);
  return { debug: write, info: write, warn: write, error: write, child: () => loggerInto(lines) };
}

/** A file that the connector is still writing; it renames complete ones. */
const isPartial = (name: string): boolean => name.endsWith('.tmp');

function listed(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
}

const staged = (at: Bench) => listed(join(String(at.env['ISO20022_OUTBOX_DIR']), '.staged'));

const records = () => openRecords(mongo);

beforeEach(async () => {
  const { members, batches, reports, leases } = records();
  await members.deleteMany({});
  await batches.deleteMany({});
  await reports.deleteMany({});
  await leases.deleteMany({});
});
afterEach(async () => {
  for (const connector of open) await connector.stop();
  open = [];
});

const withoutDebtor = ({ debtor: _, ...rest }: PaymentInstruction): PaymentInstruction => rest;

/** Sends a payout to the bank in a file. Returns the file's MsgId. */
async function sent(at: Bench, ...references: string[]): Promise<string> {
  for (const reference of references) await at.connector.submit(instruction(reference));
  const [batch] = await at.connector.operations.cut();
  return String(batch?.messageId);
}

describe('a payout that is given to the connector', () => {
  it('is submitted once, however often it is repeated', async () => {
    const at = bench();
    expect(await at.connector.submit(instruction('A'))).toEqual({ kind: 'submitted' });
    expect(await at.connector.submit(instruction('A'))).toEqual({ kind: 'submitted' });
    expect(await at.connector.inquire('A')).toEqual({ kind: 'submitted' });
    expect(await at.connector.operations.cut()).toMatchObject([{ payouts: 1, totalE4: 310_100 }]);
    expect(await at.connector.submit(instruction('A'))).toEqual({ kind: 'submitted' });
    expect(await at.connector.operations.cut()).toEqual([]);
  });

  it('that SEPA cannot carry out fails, and is in no file', async () => {
    const at = bench();
    expect(await at.connector.submit(instruction('A', { amountE4: 150 }))).toMatchObject({
      kind: 'failed',
      code: 3310,
    });
    expect(await at.connector.submit(instruction('B', { currency: 'USD' }))).toMatchObject({
      kind: 'failed',
      code: 3310,
    });
    expect(await at.connector.inquire('A')).toEqual({ kind: 'not-found' });
    expect(await at.connector.operations.cut()).toEqual([]);
  });

  it('waits for an operator if the debtor of its account is not listed', async () => {
    const at = bench();
    const debtor = 'LT121000011101001000';
    for (const one of [instruction('A', { debtor }), withoutDebtor(instruction('B'))]) {
      expect(await at.connector.submit(one)).toEqual({ kind: 'not-sent' });
    }
    expect(at.lines.filter((line) => line.includes('ISO20022_DEBTORS does not list'))).toHaveLength(2);
    expect(await records().members.countDocuments()).toBe(0);
  });

  it('can be cancelled until it is in a file', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    expect(await at.connector.cancel?.('A')).toEqual({ kind: 'cancelled' });
    expect(await at.connector.cancel?.('A')).toEqual({ kind: 'cancelled' });
    expect(await at.connector.inquire('A')).toEqual({ kind: 'cancelled' });
    expect(await at.connector.operations.cut()).toEqual([]);
    await sent(at, 'B');
    expect(await at.connector.cancel?.('B')).toEqual({ kind: 'unknown' });
    expect(await at.connector.inquire('B')).toEqual({ kind: 'submitted' });
  });

  it('that was cancelled before it arrived is refused', async () => {
    const at = bench();
    expect(await at.connector.cancel?.('A')).toEqual({ kind: 'cancelled' });
    expect(await at.connector.submit(instruction('A'))).toEqual({ kind: 'failed', code: 3300 });
    expect(await at.connector.operations.cut()).toEqual([]);
  });

  it('is in exactly one place when cancelling races the cut', async () => {
    const at = bench();
    const references = Array.from({ length: 40 }, (_, index) => `R${index}`);
    await Promise.all(references.map((reference) => at.connector.submit(instruction(reference))));
    const [cancelled, batches] = await Promise.all([
      Promise.all(references.map(async (reference) => at.connector.cancel?.(reference))),
      at.connector.operations.cut(),
    ]);
    const inFiles = batches.reduce((sum, { payouts }) => sum + payouts, 0);
    expect(cancelled.filter((answer) => answer?.kind === 'cancelled')).toHaveLength(40 - inFiles);
    expect(await records().members.countDocuments({ state: 'waiting' })).toBe(0);
  });

  it('is not sent yet, or unknown, while the records cannot be reached', async () => {
    const away = await connectMongo({ uri: testServers().mongoUri, database: 'away' });
    const connector = createIso20022Connector({
      mongo: away,
      env: testSettings(),
      logger: silentLogger,
      metrics: createMetrics('test', { processFigures: false }),
      clock: clockAt(() => NOON),
      holds: createHolds(away, { now: () => NOON }),
      accounts: { findLatest: async () => PAYING_ACCOUNT },
    });
    await away.close();
    expect(await connector.submit(instruction('A'))).toEqual({ kind: 'not-sent' });
    expect(await connector.inquire('A')).toEqual({ kind: 'unknown' });
    expect(await connector.cancel('A')).toEqual({ kind: 'unknown' });
  });

  it('is not sent yet while its record may be lost in a failover', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    const { members } = records();
    // Reads see what a majority has.
    const unseen: unknown = Object.create(members, { findOne: { value: () => Promise.resolve(null) } });
    const { add } = createMembers({
      records: { ...records(), members: unseen as typeof members },
      manifests: { reconcile: async () => undefined },
      debtorOf: () => ({ name: 'Gateway Ltd', iban: OUR_IBAN }),
      now: () => NOON,
      logger: silentLogger,
    });
    expect(await add(instruction('A'))).toEqual({ kind: 'not-sent' });
  });
});

describe('a cut', () => {
  it('writes a valid document per debtor, and instant payouts apart', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    await at.connector.submit(instruction('B'));
    await at.connector.submit(instruction('C', { instant: true }));
    await at.connector.submit(instruction('D', { merchantAccount: 'merchant_at', debtor: OTHER_IBAN }));
    expect(await at.connector.operations.batches(10)).toMatchObject([
      { messageId: '-', state: 'open', debtor: OUR_IBAN, instant: true, payouts: 1 },
      { state: 'open', payouts: expect.any(Number) },
      { state: 'open', payouts: expect.any(Number) },
    ]);
    const batches = await at.connector.operations.cut();
    expect(batches).toHaveLength(3);
    expect(batches).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ debtor: OUR_IBAN, instant: false, payouts: 2, totalE4: 620_200, state: 'emitted' }),
        expect.objectContaining({ debtor: OUR_IBAN, instant: true, payouts: 1, state: 'emitted' }),
        expect.objectContaining({ debtor: OTHER_IBAN, instant: false, payouts: 1, state: 'emitted' }),
      ]),
    );
    expect(at.outbox()).toEqual(batches.map(({ messageId }) => `${messageId}.xml`).sort());
    for (const name of at.outbox()) {
      expect(await schemaCheck.problemOf(join(String(at.env['ISO20022_OUTBOX_DIR']), name), PAIN_001)).toBeUndefined();
    }
    expect(staged(at)).toEqual([]);
    expect(await at.connector.operations.batches(10)).toHaveLength(3);
    expect(await at.connector.operations.batches(2)).toHaveLength(2);
  });

  it('happens on schedule, and at once for instant payouts', async () => {
    const at = bench({ env: { ISO20022_CUT_OFF: '08:00,12:30' } });
    await at.connector.submit(instruction('A'));
    await at.connector.submit(instruction('B', { instant: true }));
    await at.start();
    await until('the instant one is out', () => at.outbox().length === 1);
    expect(readFileSync(join(String(at.env['ISO20022_OUTBOX_DIR']), String(at.outbox()[0])), 'utf8')).toContain('INST');
    at.clock.now = NOON + 29 * 60_000;
    await at.connector.submit(instruction('C', { instant: true }));
    await until('a later round', () => at.outbox().length === 2);
    at.clock.now = NOON + 30 * 60_000;
    await until('the cut-off', () => at.outbox().length === 3);
  });

  it('of two replicas puts every payout into one file', async () => {
    const at = bench();
    const replica = at.another();
    const references = Array.from({ length: 60 }, (_, index) => `R${index}`);
    await Promise.all(references.map((reference) => at.connector.submit(instruction(reference))));
    await Promise.all([at, at, at].flatMap(() => [at.connector.operations.cut(), replica.operations.cut()]));
    const contents = at.outbox().map((name) => readFileSync(join(String(at.env['ISO20022_OUTBOX_DIR']), name), 'utf8'));
    const inFiles = contents.flatMap((text) =>
      [...text.matchAll(/<EndToEndId>(\w+)</g)].map(([, reference]) => reference),
    );
    expect(inFiles.toSorted()).toEqual(references.toSorted());
    await until(
      'all is emitted',
      async () => (await records().batches.countDocuments({ state: { $ne: 'emitted' } })) === 0,
    );
  });

  it('answers before slow files are written', async () => {
    const gate = Promise.withResolvers<void>();
    const at = bench({
      answerWithinMs: 0,
      move: async (from, to) => {
        await gate.promise;
        await rename(from, to);
      },
    });
    await at.connector.submit(instruction('A'));
    const [batch] = await at.connector.operations.cut();
    expect(['frozen', 'emitting']).toContain(batch?.state);
    gate.resolve();
    await at.connector.stop();
    expect(at.outbox()).toEqual([`${String(batch?.messageId)}.xml`]);
  });

  it('puts no more payouts into one file than configured', async () => {
    const at = bench({ env: { ISO20022_FILE_PAYOUTS: '3' } });
    for (const reference of ['A', 'B', 'C', 'D', 'E', 'F', 'G']) await at.connector.submit(instruction(reference));
    const batches = await at.connector.operations.cut();
    expect(batches.map(({ payouts }) => payouts)).toEqual([3, 3, 1]);
    expect(batches.map(({ totalE4 }) => totalE4)).toEqual([930_300, 930_300, 310_100]);
    expect(at.outbox()).toHaveLength(3);
  });
});

describe('a process that dies while it writes', () => {
  const dead = () => new Promise<never>(() => {});
  const LEASE_MS = 60_000;

  it('before the move: another replica writes the file, because no agent can have seen it', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    // Left by a process that died between freezing and moving.
    await records().batches.insertOne({
      _id: 'M1',
      state: 'frozen',
      debtor: { name: 'Gateway Ltd', iban: OUR_IBAN },
      initiatingParty: 'Gateway Ltd',
      instant: false,
      payouts: 1,
      totalE4: 310_100,
      createdAt: NOON,
      leaseUntil: NOON + LEASE_MS,
      writer: 'dead',
    });
    await records().members.updateOne({ _id: 'A' }, { $set: { state: 'sent', batch: 'M1' } });
    await at.connector.operations.cut();
    expect(at.outbox()).toEqual([]);
    at.clock.now += LEASE_MS;
    await at.connector.operations.cut();
    expect(at.outbox()).toEqual(['M1.xml']);
  });

  it.each([
    ['before the move', 0, dead],
    [
      'after the move',
      1,
      async (from: string, to: string) => {
        await rename(from, to);
        return dead();
      },
    ],
  ])(
    '%s, once it was marked: the batch is held, and rewritten only by an operator’s command',
    async (_when, moved, move) => {
      const at = bench({ move });
      const survivor = at.another();
      await at.connector.submit(instruction('A'));
      // The process died, so this call gets no answer.
      at.connector.operations.cut().catch(() => undefined);
      const batch = await until('it is about to be moved', () => records().batches.findOne({ state: 'emitting' }));
      // From here on the agent may have taken the file.
      await until('it was moved, or never will be', () => at.outbox().length === moved);
      const before = at.outbox();
      await survivor.operations.cut();
      expect(await survivor.operations.batches(1)).toMatchObject([{ state: 'emitting' }]);
      at.clock.now += LEASE_MS;
      await survivor.operations.cut();
      expect(await survivor.operations.batches(1)).toMatchObject([{ messageId: batch._id, state: 'held' }]);
      at.clock.now += LEASE_MS;
      await survivor.operations.cut();
      expect(at.outbox()).toEqual(before);
      expect(await survivor.inquire('A')).toEqual({ kind: 'submitted' });

      expect(await survivor.operations.rewrite(batch._id)).toMatchObject({ messageId: batch._id, state: 'emitted' });
      expect(at.outbox()).toEqual([`${batch._id}.xml`]);
      expect(staged(at)).toEqual([]);
      open = open.filter((connector) => connector !== at.connector);
    },
  );

  it('a move that fails leaves the batch held', async () => {
    const at = bench({ move: () => Promise.reject(new Error('no space left')) });
    await at.connector.submit(instruction('A'));
    expect(await at.connector.operations.cut()).toMatchObject([{ state: 'held', problem: 'no space left' }]);
    expect(at.outbox()).toEqual([]);
    expect(staged(at)).toEqual([]);
  });

  it('a writer that was away for longer than its lease moves nothing', async () => {
    const at = bench();
    const { batches } = records();
    await at.connector.submit(instruction('A'));
    const slow = at.another();
    const cutting = slow.operations.cut();
    await until('it is being written', () => batches.findOne({ writer: { $exists: true } }));
    at.clock.now += LEASE_MS;
    await cutting;
    const [batch] = await batches.find().toArray();
    expect([batch?.state, at.outbox().length]).toEqual(['held', 0]);
  });

  it('writes the same bytes again', async () => {
    const at = bench();
    const messageId = await sent(at, 'A', 'B');
    const path = join(String(at.env['ISO20022_OUTBOX_DIR']), `${messageId}.xml`);
    const digest = () => createHash('sha256').update(readFileSync(path)).digest('hex');
    const first = digest();
    at.clock.now += 3_600_000;
    expect(await at.connector.operations.rewrite(messageId)).toMatchObject({ state: 'emitted' });
    expect(digest()).toBe(first);
  });

  it('an invalid file never leaves', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    const wrong = { 'transfer.bic': 'nonsense', 'transfer.iban': 'NL91 ABNA 0417 1643 00' };
    await records().members.updateOne({ _id: 'A' }, { $set: wrong });
    const [batch] = await at.connector.operations.cut();
    expect(batch).toMatchObject({
      state: 'held',
      problem: expect.stringMatching(/BICFI.*\(pattern\).*IBAN/) as string,
    });
    expect(at.outbox()).toEqual([]);
    expect(staged(at)).toEqual([]);
    for (const value of Object.values(wrong)) {
      expect(batch?.problem).not.toContain(value);
      expect(at.lines.join()).not.toContain(value);
    }
  });

  it('a transient fault while rendering leaves nothing behind', async () => {
    const at = bench();
    await at.connector.submit(instruction('A'));
    await records().members.updateOne({ _id: 'A' }, { $set: { 'transfer.amountE4': 150 } });
    await expect(at.connector.operations.cut()).rejects.toThrow('whole number of cents');
    expect(staged(at)).toEqual([]);
  });

  it('refuses an unknown batch', async () => {
    expect(await bench().connector.operations.rewrite('M0')).toBeUndefined();
  });
});

describe('a report', () => {
  it.each(['03', '12', '14', '15'])('of version %s settles, declines and returns', async (version) => {
    const at = bench();
    const message = await sent(at, 'A', 'B', 'C');
    await at.start();
    const first = [
      { reference: 'A', status: 'ACSC' },
      { reference: 'B', status: 'RJCT', reason: 'AC04' },
      { reference: 'C', status: 'ACSP' },
    ];
    at.deliver('1.xml', pain002({ message, version, group: 'PART', transactions: first }));
    await until('the first is done', () => at.inbox('done').includes('1.xml'));
    expect(at.news).toEqual([
      { reference: 'A', outcome: { kind: 'settled', bank: { advice: 'ACSC', transactionId: 'BANK-1' } } },
      {
        reference: 'B',
        outcome: {
          kind: 'declined',
          code: 3170,
          bank: {
            advice: 'RJCT',
            transactionId: 'BANK-1',
            reasonCode: 'AC04',
            reasonDescription: 'because of AC04 & such',
          },
        },
      },
    ]);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'settled' });
    expect(await at.connector.inquire('B')).toMatchObject({ kind: 'declined', code: 3170 });
    expect(await at.connector.inquire('C')).toMatchObject({ kind: 'submitted' });
    at.deliver(
      '2.xml',
      pain002({ message, version, id: 'REPORT-2', transactions: [{ reference: 'A', status: 'RJCT', reason: 'AC01' }] }),
    );
    await until('the second is done', () => at.inbox('done').includes('2.xml'));
    expect(at.news.slice(2)).toMatchObject([{ reference: 'A', outcome: { kind: 'returned', reasonCode: 'AC01' } }]);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'settled' });
  });

  it('that rejects the whole message declines all of it', async () => {
    const at = bench();
    const references = Array.from({ length: 80 }, (_, index) => `R${String(index).padStart(2, '0')}`);
    const message = await sent(at, ...references);
    await at.start();
    at.deliver('1.xml', pain002({ message, group: 'RJCT', groupReason: 'FF01' }));
    await until('it is done', () => at.inbox('done').length === 1);
    expect(at.news.map(({ reference }) => reference).toSorted()).toEqual(references);
    expect(new Set(at.news.map(({ outcome }) => outcome.kind === 'declined' && outcome.code))).toEqual(new Set([3150]));
    expect(await records().members.countDocuments({ transfer: { $exists: true } })).toBe(0);
  });

  it('that is repeated is harmless, and recorded', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    const report = pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] });
    at.deliver('1.xml', report);
    await until('it is done', () => at.inbox('done').length === 1);
    at.deliver('1.xml', report);
    await until('its copy is done', () => at.inbox('done').length === 2);
    expect(at.news).toHaveLength(1);
    const kept = await records().reports.find().sort({ at: 1 }).toArray();
    expect(kept.map(({ result }) => result).toSorted()).toEqual(['applied', 'duplicate']);
  });

  it('of an unknown status changes nothing, and is shown', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    at.deliver('1.xml', pain002({ message, transactions: [{ reference: 'A', status: 'CANC', reason: 'CUST' }] }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(at.news).toMatchObject([
      { reference: 'A', outcome: { kind: 'submitted', bank: { advice: 'CANC', reasonCode: 'CUST' } } },
    ]);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'submitted', bank: { advice: 'CANC' } });
    expect(problemsOf(at, '1.xml')).toEqual(['A: status CANC is not known']);
  });

  const wholeFile = { group: 'RJCT', groupReason: 'AM05' };
  it.each([
    ['of the whole file', 'AM05', wholeFile],
    [
      'of the whole file, all of it listed',
      'AM05',
      { ...wholeFile, transactions: [{ reference: 'A', status: 'RJCT' }] },
    ],
    [
      'listed after another reason',
      'NARR',
      { transactions: [{ reference: 'A', status: 'RJCT', firstReason: 'NARR', reason: 'AM05' }] },
    ],
  ])('of a duplicate, %s, leaves the payout open', async (_how, reasonCode, said) => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    at.deliver('1.xml', pain002({ message, ...said }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(problemsOf(at, '1.xml')).toEqual(['A: rejected as a duplicate (AM05)']);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'submitted', bank: { reasonCode } });
  });

  it.each([
    ['for a reason other than a duplicate', { groupReason: 'FF01' }],
    ['and lists it', { transactions: [{ reference: 'A', status: 'RJCT', reason: 'FF01' }] }],
  ])('that rejects the whole of a message written twice, %s, may mean the second one', async (_how, said) => {
    const at = bench();
    const message = await sent(at, 'A');
    expect(await at.connector.operations.rewrite(message)).toMatchObject({ state: 'emitted' });
    await at.start();
    at.deliver('1.xml', pain002({ message, group: 'RJCT', ...said }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(problemsOf(at, '1.xml')).toEqual(['A: the whole message rejected, which may have been sent twice']);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'submitted' });
    at.deliver('2.xml', pain002({ message, transactions: [{ reference: 'A', status: 'RJCT', reason: 'FF01' }] }));
    await until('the payout by name is done', () => at.inbox('done').includes('2.xml'));
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'declined' });
  });

  it('that settles a message does not affect a transfer that an earlier one declined by name', async () => {
    const at = bench();
    const message = await sent(at, 'A', 'B');
    await at.start();
    const declined = [{ reference: 'B', status: 'RJCT', reason: 'AC04' }];
    at.deliver('1.xml', pain002({ message, group: 'PART', transactions: declined }));
    await until('the first is done', () => at.inbox('done').includes('1.xml'));
    at.deliver('2.xml', pain002({ message, group: 'ACSC' }));
    await until('the second is done', () => at.inbox('done').includes('2.xml'));
    expect(at.news.map(({ reference, outcome }) => [reference, outcome.kind])).toEqual([
      ['B', 'declined'],
      ['A', 'settled'],
    ]);
  });

  it('in blocks of different statuses does not affect transfers that it does not name', async () => {
    const at = bench();
    const message = await sent(at, 'A', 'B', 'C');
    await at.start();
    const rejected = { status: 'RJCT', transactions: [{ reference: 'A', status: 'RJCT', reason: 'AC04' }] };
    const settled = { status: 'ACSC', transactions: [{ reference: 'B' }] };
    at.deliver('1.xml', pain002({ message, group: 'PART', blocks: [rejected, settled] }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(problemsOf(at, '1.xml')).toEqual(['1 not named, payment said to be PART and RJCT and ACSC']);
    expect(at.news.map(({ reference, outcome }) => [reference, outcome.kind])).toEqual([
      ['A', 'declined'],
      ['B', 'settled'],
    ]);
    const both = { status: 'ACSC', transactions: [{ reference: 'B' }, { reference: 'C' }] };
    at.deliver('2.xml', pain002({ message, group: 'PART', blocks: [rejected, both] }));
    await until('who names all is done', () => at.inbox('done').includes('2.xml'));
  });

  it('that contradicts the recorded outcome changes nothing here', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start(async () => 'contradiction');
    at.deliver('1.xml', pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(problemsOf(at, '1.xml')).toEqual(['A: settled contradicts what is on record']);
    expect(await at.connector.inquire('A')).toMatchObject({ kind: 'submitted' });
  });

  it('is applied again until `take` has accepted all of it', async () => {
    const at = bench();
    const message = await sent(at, 'A', 'B');
    const other = await sent(at, 'C');
    const taken: string[] = [];
    let faults = 0;
    await at.start(async ({ reference }) => {
      if (reference === 'B' && (faults += 1) < 3) throw new Error('away');
      taken.push(reference);
      return 'applied';
    });
    const settled = (...references: string[]) => references.map((reference) => ({ reference, status: 'ACSC' }));
    at.deliver('1.xml', pain002({ message, transactions: settled('A', 'B') }));
    at.deliver('2.xml', pain002({ message: other, transactions: settled('C') }));
    await until('both are done', () => at.inbox('done').length === 2);
    expect(taken.filter((reference) => reference === 'B')).toEqual(['B']);
    expect(taken).toContain('C');
  });

  it('that never arrives is counted as missing', async () => {
    const at = bench();
    const figures = async () => [
      await at.figure('gateway_iso20022_unreported_batches'),
      await at.figure('gateway_iso20022_oldest_unreported_seconds'),
    ];
    // The database is asked once in some seconds.
    const show = (count: number, age: number) =>
      until(`${count} of ${age} s`, async () => String(await figures()) === String([count, age]));
    await show(0, 0);
    const message = await sent(at, 'A');
    at.clock.now += 3_600_000;
    const other = await sent(at, 'B');
    at.clock.now += 60_000;
    await show(2, 3_660);
    await at.start();
    at.deliver('1.xml', pain002({ message, group: 'ACTC' }));
    await until('it is done', () => at.inbox('done').length === 1);
    await show(1, 60);
    const batches = await at.connector.operations.batches(2);
    expect(batches.map(({ messageId, reportedAt }) => [messageId, reportedAt])).toEqual([
      [other, undefined],
      [message, at.clock.now],
    ]);
  });

  it('that leaves out how a payout ended is counted once it is overdue, until another says so', async () => {
    const at = bench({ env: { ISO20022_OUTCOME_DAYS: '1' } });
    const figures = async () => [
      await at.figure('gateway_iso20022_overdue_batches'),
      await at.figure('gateway_iso20022_oldest_undecided_seconds'),
    ];
    const show = (count: number, age: number) =>
      until(`${count} of ${age} s`, async () => String(await figures()) === String([count, age]));
    const message = await sent(at, 'A', 'B');
    await at.start();
    at.deliver('1.xml', pain002({ message, group: 'ACCP', transactions: [{ reference: 'B', status: 'ACSC' }] }));
    await until('it is done', () => at.inbox('done').length === 1);
    // NOON is on a Saturday.
    at.clock.now += 2 * 86_400_000;
    await show(0, 172_800);
    at.clock.now += 86_400_000;
    await show(1, 259_200);
    at.deliver('2.xml', pain002({ message, id: 'REPORT-2', transactions: [{ reference: 'A', status: 'ACSC' }] }));
    await until('the outcome is read', () => at.inbox('done').length === 2);
    await show(0, 0);
  });

  it('waits for an earlier one on its message that could not be applied', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    const saying = (id: string, status: string) => pain002({ message, id, transactions: [{ reference: 'A', status }] });
    at.deliver('1.xml', saying('REPORT-1', 'ACSC'));
    at.deliver('2.xml', saying('REPORT-2', 'RJCT'));
    let faults = 0;
    await at.start(async (news) => {
      if (news.outcome.kind === 'settled' && (faults += 1) < 3) throw new Error('away');
      at.news.push(news);
      return 'applied';
    });
    await until('both are done', () => at.inbox('done').length === 2);
    expect(at.news.map(({ outcome }) => outcome.kind)).toEqual(['settled', 'returned']);
  });

  it('that stays in the inbox does not block reports on other messages, however many stay', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    const other = await sent(at, 'B');
    for (let report = 100; report < 200; report += 1) {
      at.deliver(`${report}.xml`, pain002({ message, id: `REPORT-${report}`, group: 'ACSC' }));
    }
    at.deliver('other.xml', pain002({ message: other, group: 'ACSC' }));
    await at.start(({ reference }) =>
      reference === 'A' ? Promise.reject(new Error('away')) : Promise.resolve('applied'),
    );
    await until('the last one is done', () => at.inbox('done').includes('other.xml'));
    expect(at.inbox()).toHaveLength(100);
  });

  it('on a held batch proves that the bank has it: it is not written again', async () => {
    const at = bench({ move: () => Promise.reject(new Error('unclear')) });
    const message = await sent(at, 'A');
    await at.start();
    at.deliver('1.xml', pain002({ message, group: 'ACCP' }));
    await until('it is done', () => at.inbox('done').length === 1);
    expect(await at.connector.operations.rewrite(message)).toBe('not-to-be-written');
    expect(at.outbox()).toEqual([]);
  });

  it('is read by one replica', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    const replica = at.another();
    await replica.start(async (news) => {
      at.news.push(news);
      return 'applied';
    });
    for (let report = 0; report < 20; report += 1) {
      const id = `REPORT-${report}`;
      at.deliver(`${report}.xml`, pain002({ message, id, transactions: [{ reference: 'A', status: 'ACSC' }] }));
    }
    await until('all are done', () => at.inbox('done').length === 20);
    expect(at.news).toHaveLength(1);
  });
});

function problemsOf(at: Bench, name: string): string[] {
  const path = join(String(at.env['ISO20022_INBOX_DIR']), 'failed', `${name}.error.json`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { problems: string[] }).problems;
}

describe('a file that is no report', () => {
  const bomb = `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, level) => {
    const [name, below] = ['bcdefghij'[level], 'abcdefghi'[level]];
    return `<!ENTITY ${name} "${`&${below};`.repeat(10)}">`;
  }).join('')}]>`;
  const good = pain002({ message: 'M', group: 'ACCP' });
  /** Valid: the schema allows any content here. */
  const supplemented = (data: string) =>
    good.replace('</CstmrPmtStsRpt>', `<SplmtryData><Envlp>${data}</Envlp></SplmtryData></CstmrPmtStsRpt>`);
  const withDoctype = (doctype: string) => good.replace('<Document', `${doctype}<Document`).replace('REPORT-1', '&j;');

  it.each<[string, string | Buffer, RegExp]>([
    ['expands entities', withDoctype(bomb), /DOCTYPE/],
    ['has an external entity', withDoctype('<!DOCTYPE d [<!ENTITY j SYSTEM "file:///etc/passwd">]>'), /DOCTYPE/],
    ['expands entities, far behind', withDoctype(`<!--${'-x'.repeat(40_000)}-->${bomb}`), /amplification/],
    [
      'has a DOCTYPE of nothing, far behind',
      good.replace('<Document', `<!--${'-x'.repeat(40_000)}--><!DOCTYPE a><Document`),
      /DOCTYPE/,
    ],
    ['hides a DOCTYPE in UTF-16', Buffer.from(`\ufeff${withDoctype(bomb)}`, 'utf16le'), /DOCTYPE/],
    ['hides a DOCTYPE in UTF-16 without a mark', Buffer.from(withDoctype(bomb), 'utf16le'), /DOCTYPE/],
    ['is in another encoding', Buffer.from(good.replace('UTF-8', 'UTF-7')), /UTF-7/],
    [
      'is not in the encoding that it declares',
      Buffer.from(good.replace('REPORT-1', 'B\u00e4nk'), 'latin1'),
      /encoding \(line 3\)/,
    ],
    ['has a mark that contradicts its declaration', `\ufeff${good.replace('UTF-8', 'ISO-8859-1')}`, /ISO-8859-1/],
    ['is UTF-16, but declares UTF-8', Buffer.from(`\ufeff${good}`, 'utf16le'), /UTF-8/],
    ['is UTF-8, but declares UTF-16', good.replace('UTF-8', 'UTF-16'), /XML declaration/],
    ['uses an undefined entity', good.replace('REPORT-1', '&j;'), /ntity/],
    ['is of another message', good.replaceAll('pain.002.001.12', 'camt.053.001.08'), /CstmrPmtStsRpt/],
    ['is of an unknown version', good.replaceAll('pain.002.001.12', 'pain.002.001.99'), /namespace/],
    ['has no namespace', good.replace(/ xmlns="[^"]*"/, ''), /namespace none/],
    ['lies about its namespace', good.replace('CstmrPmtStsRpt', 'Other').replace('/CstmrPmtStsRpt', '/Other'), /Other/],
    ['is nested too deep', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`, /./],
    ['ends in the middle', good.slice(0, 300), /./],
    ['is no XML', 'MsgId;Status', /./],
    ['is empty', '', /./],
    ['is nested deeper than the parser allows', supplemented(`${'<a>'.repeat(300)}${'</a>'.repeat(300)}`), /depth/],
    ['has more tags than a report', supplemented('<a/>'.repeat(1_000_001)), /more than 1000000 tags/],
    [
      'repeats zeros without end',
      good.replace('<GrpSts>', `<OrgnlCtrlSum>${'0'.repeat(2_000)}1</OrgnlCtrlSum><GrpSts>`),
      /OrgnlCtrlSum at line 5 is longer/,
    ],
    ['has an element where text belongs', good.replace('REPORT-1', 'RE<b/>PORT'), /MsgId/],
    ['contains two reports', `${good}\n${good.split('\n').slice(1).join('\n')}`, /at line 7; a file has one/],
    ['contains two reports with declarations', `${good}\n${good}`, /\(line 7\); what it declares begins at line 8/],
  ])('because it %s is set aside, and the next one is read', async (_why, content, problem) => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    at.deliver('1.xml', content);
    at.deliver('2.xml', pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] }));
    await until('the bad one is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    await until('the good one is done', () => at.inbox('done').includes('2.xml'));
    expect(at.inbox('failed')).toContain('1.xml');
    expect(problemsOf(at, '1.xml')).toEqual([expect.stringMatching(problem)]);
    expect(at.news).toMatchObject([{ reference: 'A', outcome: { kind: 'settled' } }]);
    expect(await records().reports.findOne({ file: '1.xml' })).toMatchObject({ result: 'failed' });
  });

  it('because it has 100 MB is not even read', async () => {
    const at = bench();
    await at.start();
    at.deliver('1.xml', '');
    const path = join(String(at.env['ISO20022_INBOX_DIR']), 'big');
    writeFileSync(path, '');
    truncateSync(path, 100 * 1024 * 1024);
    utimesSync(path, 1, 1);
    linkSync(path, join(String(at.env['ISO20022_INBOX_DIR']), 'big.xml'));
    await until('it is set aside', () => at.inbox('failed').includes('big.xml.error.json'));
    expect(problemsOf(at, 'big.xml')).toEqual([expect.stringContaining('104857600 bytes')]);
    expect((await records().reports.findOne({ file: 'big.xml' }))?.digest).toBeUndefined();
  });

  it('because it names transfers of another message still counts for its own; the others are problems', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await sent(at, 'B');
    await at.start();
    const transactions = ['A', 'B', 'X'].map((reference) => ({ reference, status: 'ACSC' }));
    at.deliver('1.xml', pain002({ message, transactions }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(at.news.map(({ reference }) => reference)).toEqual(['A']);
    expect(problemsOf(at, '1.xml')).toEqual([`B is not in ${message}`, `X is not in ${message}`]);
  });

  it('with a name too long for the files beside it gets a shorter one, and overwrites none set aside earlier', async () => {
    const at = bench();
    await at.start();
    const name = (last: string) => `${'ä'.repeat(121)}${last}.xml`;
    at.deliver(name('1'), 'no report');
    at.deliver(name('2'), 'no report either');
    await until('both are set aside', () => at.inbox('failed').length === 4);
    const reports = at.inbox('failed').filter((one) => one.endsWith('.xml'));
    expect(reports).toHaveLength(2);
    expect(at.inbox('failed')).toEqual(expect.arrayContaining(reports.map((one) => `${one}.error.json`)));
    const kept = await records().reports.find().toArray();
    expect(kept.map(({ file }) => file).toSorted()).toEqual([name('1'), name('2')]);
  });

  it('that cannot be moved is recorded once per result, however often it is tried', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    const done = join(String(at.env['ISO20022_INBOX_DIR']), 'done');
    rmdirSync(done);
    writeFileSync(done, '');
    at.deliver('1.xml', pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] }));
    // Each of these takes a round, and at least one of those rounds tried the other file again.
    for (const bad of ['2.xml', '3.xml', '4.xml']) {
      at.deliver(bad, 'no report');
      await until('another one is set aside', () => at.inbox('failed').includes(bad));
    }
    const kept = await records().reports.find({ file: '1.xml' }).toArray();
    expect(kept.map(({ result }) => result).toSorted()).toEqual(['applied', 'duplicate']);
    rmSync(done);
    mkdirSync(done);
    await until('it is done', () => at.inbox('done').includes('1.xml'));
    expect(at.news).toHaveLength(1);
  });

  it('is logged without account numbers', async () => {
    const at = bench();
    await at.start();
    const iban = 'NL91ABNA0417164300';
    at.deliver('1.xml', good.replace('2026-11-21T10:00:00Z', iban));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(problemsOf(at, '1.xml')).toEqual([expect.stringContaining(iban)]);
    await until('it is logged', () => at.lines.some((line) => line.includes('a report is set aside')));
    expect(at.lines.join()).not.toContain(iban);
  });

  it('because it is about another payment than the message has settles nothing', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    await at.start();
    at.deliver('1.xml', pain002({ message, payment: 'P', transactions: [{ reference: 'A', status: 'ACSC' }] }));
    await until('it is set aside', () => at.inbox('failed').includes('1.xml.error.json'));
    expect(at.news).toEqual([]);
  });

  it('is left alone while it may still be growing, or is not for us', async () => {
    const at = bench();
    const message = await sent(at, 'A');
    const inbox = String(at.env['ISO20022_INBOX_DIR']);
    const report = pain002({ message, transactions: [{ reference: 'A', status: 'ACSC' }] });
    mkdirSync(join(inbox, 'folder.xml'), { recursive: true });
    for (const name of ['.1.xml', '1.xml.part', '1.tmp', 'notes.txt']) at.deliver(name, report);
    writeFileSync(join(inbox, 'elsewhere'), report);
    symlinkSync(join(inbox, 'elsewhere'), join(inbox, 'link.xml'));
    at.deliver('new.xml', report);
    await until('it is there', () => existsSync(join(inbox, 'new.xml')));
    utimesSync(join(inbox, 'new.xml'), at.clock.now / 1_000 - 1, at.clock.now / 1_000 - 1);
    await at.start();
    // Two rounds in a row: the first has seen every file.
    for (const name of ['first.xml', 'second.xml']) {
      at.deliver(name, pain002({ message, id: name, group: 'ACCP' }));
      await until('another one is done', () => at.inbox('done').includes(name));
    }
    expect(at.news).toEqual([]);
    at.clock.now += 2_000;
    await until('it has been quiet for long enough', () => at.inbox('done').includes('new.xml'));
    expect(at.inbox()).toEqual(['.1.xml', '1.tmp', '1.xml.part', 'elsewhere', 'notes.txt']);
  });
});
