import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { clockAt } from '@gateway/mongo';
import { RetryableError } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import { createJournal } from '../src/adapters/mongo/journal';
import { payoutEndpoint } from '../src/application/endpoints';
import type { InitiatePorts } from '../src/application/handle-payout-request';
import { handlePayoutRequest } from '../src/application/handle-payout-request';
import { rawFields } from '../src/domain/raw-fields.fixture';
import { createLateEntries } from '../src/application/late-entries';
import type { EdgeFixture } from './edge-fixture';
import { CREDENTIALS, startEdgeFixture } from './edge-fixture';

const INIT = '/api/mp/payout';
const CHECK = '/api/mp/transaction';
const BANK_ADDRESSES = { isIban: () => true, isBic: () => true };
/** Of the second replica. */
const ACCOUNT = {
  merchantAccount: CREDENTIALS.merchant_account,
  state: 'test',
  transactionTypes: ['PAYOUT'],
  payoutRules: [{ kind: 'daily-amount', currency: 'XTS', maxE4: 1_000_000 }],
  limits: [],
  ipAllowlist: [],
  customParameters: [],
  payoutFee: { fixedE4: 0, percentE4: 0 },
};

let edge: EdgeFixture;
beforeAll(async () => {
  edge = await startEdgeFixture('edge-late-payouts');
});
afterAll(() => edge.close());
afterEach(() => void (edge.owner.payouts.records = true));

const payout = (transactionUniqueId: string) => ({
  method: 'init',
  transaction_unique_id: transactionUniqueId,
  amount: '12.34',
  currency: 'XTS',
  callback_url: 'https://shop.example/payouts',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 7',
});

async function check(transactionUniqueId: string) {
  const fields = { transaction_type: 'CHECK', transaction_unique_id: transactionUniqueId };
  const { code, transactions } = await edge.merchant(CHECK, fields);
  const [found] = transactions as { status: string; code: number; reference: string }[];
  return found === undefined ? { code } : { status: found.status, code: found.code, reference: found.reference };
}

const commandsOf = (transactionUniqueId: string) =>
  edge.owner.payouts.commands.filter((command) => command.transactionUniqueId === transactionUniqueId);

/** Lets the sweeper handle all open entries once, as an accepted payout shows that its owner does not record. */
async function sweep(): Promise<void> {
  edge.owner.payouts.records = false;
  const id = `swept-${edge.owner.payouts.commands.length}`;
  expect(await edge.merchant(INIT, payout(id))).toMatchObject({ status: 'pending' });
  await until('it is sent', () => commandsOf(id).length === 1);
  edge.pass(60_000);
  await until('it is sent again', () => commandsOf(id).length > 1);
}

/** A connection that sends inserts, but is cut before their answers, and sends nothing else. */
function cutOff(mongo: MongoConnection) {
  const cut = { off: true, underWay: [] as (() => Promise<unknown>)[] };
  const collection = (name: string) =>
    new Proxy(mongo.collection(name), {
      get(target, method) {
        const call = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => {
          if (!cut.off) return call.apply(target, args);
          if (method === 'insertMany') cut.underWay.push(() => call.apply(target, args));
          return Promise.reject(new RetryableError('cut off'));
        };
      },
    });
  return { cut, mongo: { ...mongo, collection } as unknown as MongoConnection };
}

/** A second replica, cut off from the database, gets a payout. */
async function initAtCutOff(transactionUniqueId: string) {
  const { cut, mongo } = cutOff(edge.mongo);
  const journal = createJournal(mongo, clockAt(Date.now));
  const late = createLateEntries({ journal, now: Date.now, logger: silentLogger });
  const published: unknown[] = [];
  const ports = {
    journal,
    late,
    bus: { available: () => true, publish: async (command: unknown) => void published.push(command) },
    credentials: { verify: async () => ({ kind: 'ok', account: ACCOUNT }) },
    requestSlots: { take: async () => ({ release: () => undefined }) },
    sandbox: { refusal: () => undefined, count: () => undefined },
    rateLimiter: { take: () => ({ allowed: true }) },
    bankAddresses: BANK_ADDRESSES,
    receiverTokens: () => ({ token: '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab', otherTokens: [] }),
    isDiskFull: () => false,
    databaseAvailable: () => true,
    now: Date.now,
    randomBytes,
    replyTimeoutMs: 600,
    sandboxReturns: 'any',
    logger: silentLogger,
  } as unknown as InitiatePorts;
  const { body } = await handlePayoutRequest(
    ports,
    {
      fields: rawFields({ ...CREDENTIALS, ...payout(transactionUniqueId) }),
      sourceIp: '192.0.2.1',
      gone: () => new AbortController().signal,
      endpoint: INIT,
      session: { family: 'payout', sessionId: 's' },
    },
    payoutEndpoint(BANK_ADDRESSES),
  );
  expect(body).toMatchObject({ status: 'error', code: 11 });
  return {
    reference: body['reference'],
    published,
    /** The inserts reach the database after all. Returns how many of them succeed. */
    async land(): Promise<number> {
      expect(cut.underWay.length).toBeGreaterThan(1);
      const landed = await Promise.allSettled(cut.underWay.map((insert) => insert()));
      return landed.filter(({ status }) => status === 'fulfilled').length;
    },
    async doLateWork() {
      cut.off = false;
      await late.stop();
    },
  };
}

describe('a payout whose insert lands after its merchant got 11 and CHECK found nothing', () => {
  test('is withdrawn by its replica, and never paid', async () => {
    const { reference, published, land, doLateWork } = await initAtCutOff('late-1');
    expect(await check('late-1')).toEqual({ code: 3014 });
    expect(await land()).toBe(1);
    expect(await check('late-1')).toEqual({ status: 'PENDING', code: 11, reference });
    await doLateWork();
    expect(await check('late-1')).toEqual({ status: 'ERROR', code: 11, reference });
    await sweep();
    expect([commandsOf('late-1'), published]).toEqual([[], []]);
    expect(await check('late-1')).toEqual({ status: 'ERROR', code: 11, reference });
  });

  test('is abandoned by the sweeper if its replica died, or is still cut off', async () => {
    const { reference, land } = await initAtCutOff('late-2');
    expect(await check('late-2')).toEqual({ code: 3014 });
    expect(await land()).toBe(1);
    await sweep();
    expect(await check('late-2')).toEqual({ status: 'ERROR', code: 11, reference });
    expect(commandsOf('late-2')).toEqual([]);
  });

  test('cannot land any more once it is on record as abandoned', async () => {
    const { reference, land, doLateWork } = await initAtCutOff('late-3');
    await doLateWork();
    expect(await check('late-3')).toEqual({ status: 'ERROR', code: 11, reference });
    expect(await land()).toBe(0);
    expect(await check('late-3')).toEqual({ status: 'ERROR', code: 11, reference });
    await sweep();
    expect(commandsOf('late-3')).toEqual([]);
  });
});

test('a repeated key accepts an unconfirmed payout before its deadline, and never after', async () => {
  const fields = payout('repeated');
  const headers = { 'idempotency-key': 'key-repeated' };
  edge.owner.payouts.records = false;
  const first = await edge.merchant(INIT, fields, headers);
  expect(first).toMatchObject({ status: 'pending', code: 0 });
  const entries = edge.mongo.collection<{ _id: string; unconfirmed?: true }>('journal');
  const entry = { _id: String(first['reference']) };
  const IN_AN_HOUR = Date.now() + 3_600_000;
  const setTimes = (deadline: number, sweepAt: number) =>
    entries.updateOne(entry, { $set: { unconfirmed: true, deadline, sweepAt } });

  await setTimes(IN_AN_HOUR, IN_AN_HOUR);
  expect(await edge.merchant(INIT, fields, headers)).toEqual(first);
  expect(await entries.findOne(entry)).not.toHaveProperty('unconfirmed');

  await setTimes(0, IN_AN_HOUR);
  const { reference } = first;
  expect(await edge.merchant(INIT, fields, headers)).toMatchObject({ status: 'error', code: 11, reference });
  expect(await entries.findOne(entry)).toMatchObject({ unconfirmed: true });

  await setTimes(0, 0);
  await until('it is abandoned', async () => (await check('repeated')).status === 'ERROR');
  expect(await edge.merchant(INIT, fields, headers)).toMatchObject({ status: 'error', code: 11, reference });
});
