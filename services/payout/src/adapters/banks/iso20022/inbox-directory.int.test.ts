import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import { silentLogger, testServers } from '@gateway/testing';
import type { BankNews } from '../../../application/bank-ports';
import { createInboxDirectory } from './inbox-directory';
import { OUR_IBAN, pain002 } from './iso20022.fixture';
import { createWorkLease } from './lease';
import type { Records } from './records';
import { openRecords } from './records';
import type { SchemaCheck } from './schema-check';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const LEASE_MS = 30_000;
const GIVE_UP_AFTER_MS = 600_000;

let mongo: MongoConnection;
let records: Records;
beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database: `iso20022-${randomBytes(4).toString('hex')}` });
  records = openRecords(mongo);
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});
beforeEach(async () => {
  for (const collection of [records.members, records.batches, records.reports, records.leases]) {
    await collection.deleteMany({});
  }
});

/** A message that the bank has, with these transactions. */
async function emitted(message: string, ...references: string[]): Promise<void> {
  const debtor = { name: 'Gateway Ltd', iban: OUR_IBAN };
  await records.batches.insertOne({
    ...{ _id: message, state: 'emitted', debtor, initiatingParty: debtor.name, instant: false },
    ...{ payouts: references.length, totalE4: 10_000, createdAt: NOON, leaseUntil: 0, writings: 1 },
  });
  await records.members.insertMany(references.map((_id) => ({ _id, state: 'sent', since: NOON, batch: message })));
}

interface Bench {
  directory: string;
  clock: { now: number };
  /** What was told of each payout, in order. */
  told: string[];
  round(onNews?: (reference: string) => Promise<void>): Promise<void>;
  /** In the bank's order. */
  deliver(name: string, content: string): void;
  files(folder?: string): string[];
  problemsOf(name: string): string[];
}

/** An inbox whose schema check is `problemOf`. */
async function bench(problemOf: SchemaCheck['problemOf'] = () => Promise.resolve(undefined)): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'iso20022-inbox-'));
  const clock = { now: NOON };
  const told: string[] = [];
  const inbox = createInboxDirectory({
    directory,
    records,
    lease: leaseOf('one', clock),
    schemaCheck: { problemOf, stop: () => Promise.resolve() },
    onReport: () => undefined,
    logger: silentLogger,
    now: () => clock.now,
  });
  await inbox.prepare();
  let delivered = 0;
  return {
    directory,
    clock,
    told,
    round: (onNews) =>
      inbox.readAll(async ({ reference, outcome }: BankNews) => {
        await onNews?.(reference);
        told.push(`${reference} ${outcome.kind}`);
        return 'applied';
      }),
    deliver(name, content) {
      const path = join(directory, name);
      writeFileSync(path, content);
      const at = NOON / 1_000 - 60 + (delivered += 1);
      utimesSync(path, at, at);
    },
    files: (folder = '.') => readdirSync(join(directory, folder)).filter((name) => name.endsWith('.xml')),
    problemsOf(name) {
      const text = readFileSync(join(directory, 'failed', `${name}.error.json`), 'utf8');
      return (JSON.parse(text) as { problems: string[] }).problems;
    },
  };
}

const leaseOf = (owner: string, clock: { now: number }) =>
  createWorkLease({ leases: records.leases, work: 'inbox', owner, clock: clockAt(() => clock.now) });

/** Rejects one transaction by name. */
const rejecting = (message: string, reference: string) =>
  pain002({ message, id: 'REPORT-1', transactions: [{ reference, status: 'RJCT', reason: 'AC04' }] });
const settlingAll = (message: string) => pain002({ message, id: 'REPORT-2', group: 'ACSC' });

const FAULT = new Error('the schema worker has ended');

describe('a report that cannot be read yet', () => {
  it('because its schema check fails once is applied before a later one on its message', async () => {
    await emitted('M1', 'T1', 'T2');
    let checks = 0;
    const at = await bench(() => ((checks += 1) === 1 ? Promise.reject(FAULT) : Promise.resolve(undefined)));
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    await at.round();
    expect(at.told).toEqual([]);
    await at.round();
    expect(at.told).toEqual(['T1 declined', 'T2 settled']);
    expect(at.files('done')).toEqual(['1.xml', '2.xml']);
  });

  it('because the database fails once is applied before a later one on its message', async () => {
    await emitted('M1', 'T1', 'T2');
    const at = await bench();
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    const findOne = jest.spyOn(records.reports, 'findOne').mockRejectedValueOnce(new Error('no primary'));
    await at.round();
    findOne.mockRestore();
    expect(at.told).toEqual([]);
    await at.round();
    expect(at.told).toEqual(['T1 declined', 'T2 settled']);
  });
});

describe('a report that can never be read', () => {
  /** Fails for reports on `M1`. */
  const failing = (xml: string | Uint8Array) =>
    Buffer.from(xml).includes('<OrgnlMsgId>M1<') ? Promise.reject(FAULT) : Promise.resolve(undefined);

  it('is set aside after a while, and the others are applied', async () => {
    await emitted('M2', 'T3');
    const at = await bench(failing);
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M2'));
    await at.round();
    at.clock.now += GIVE_UP_AFTER_MS - 1;
    await at.round();
    expect([at.files(), at.told]).toEqual([['1.xml', '2.xml'], []]);
    at.clock.now += 1;
    await at.round();
    expect(at.problemsOf('1.xml')).toEqual([expect.stringContaining(FAULT.message)]);
    expect([at.files(), at.told]).toEqual([[], ['T3 settled']]);
  });

  it('is set aside although an earlier one stays in the inbox', async () => {
    await emitted('M2', 'T3');
    await emitted('M3', 'T4');
    const at = await bench(failing);
    at.deliver('1.xml', settlingAll('M2'));
    at.deliver('2.xml', rejecting('M1', 'T1'));
    at.deliver('3.xml', settlingAll('M3'));
    const isAway = (reference: string) => (reference === 'T3' ? Promise.reject(FAULT) : Promise.resolve());
    await at.round(isAway);
    at.clock.now += GIVE_UP_AFTER_MS;
    await at.round(isAway);
    expect([at.files(), at.files('failed'), at.told]).toEqual([['1.xml'], ['2.xml'], ['T4 settled']]);
  });

  it('gets time of its own under the name of an earlier one', async () => {
    const at = await bench(failing);
    at.deliver('1.xml', rejecting('M1', 'T1'));
    await at.round();
    at.clock.now += GIVE_UP_AFTER_MS;
    at.deliver('1.xml', rejecting('M1', 'T1'));
    await at.round();
    expect(at.files()).toEqual(['1.xml']);
  });

  it('keeps the others waiting as long as it cannot be moved either', async () => {
    await emitted('M1', 'T1', 'T2');
    let faults = Infinity;
    const at = await bench(() => ((faults -= 1) > 0 ? Promise.reject(FAULT) : Promise.resolve(undefined)));
    rmdirSync(join(at.directory, 'failed'));
    writeFileSync(join(at.directory, 'failed'), '');
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    await at.round();
    at.clock.now += GIVE_UP_AFTER_MS;
    faults = 2;
    await at.round();
    expect(at.told).toEqual([]);
    await at.round();
    expect(at.told).toEqual(['T1 declined', 'T2 settled']);
  });
});

describe('the lease of a reader', () => {
  it('is renewed after the schema check', async () => {
    await emitted('M1', 'T1');
    const at = await bench(() => Promise.resolve(void (at.clock.now += LEASE_MS - 1)));
    at.deliver('1.xml', settlingAll('M1'));
    const taken: boolean[] = [];
    await at.round(async () => {
      at.clock.now += LEASE_MS - 1;
      taken.push(await leaseOf('another', at.clock).take());
    });
    expect(taken).toEqual([false]);
  });

  it('that another replica got during the schema check ends the round', async () => {
    await emitted('M1', 'T1');
    const at = await bench(async () => {
      at.clock.now += LEASE_MS;
      await leaseOf('another', at.clock).take();
      return undefined;
    });
    at.deliver('1.xml', settlingAll('M1'));
    await expect(at.round()).rejects.toThrow('another replica reads the inbox now');
    expect(at.told).toEqual([]);
  });
});
