import { randomBytes } from 'node:crypto';
import type { AccountSettings, OpenAccounts, PayoutRule } from '@gateway/accounts';
import { openAccounts } from '@gateway/accounts';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import { newVaultKeys } from '@gateway/vault';
import { createReservations } from '../src/adapters/mongo/reservations';
import type { PaidReceiver } from '../src/application/screen-payout';
import { createScreening } from '../src/application/screen-payout';
import type { ScreenedPayout, Screening, ScreeningDecision } from '../src/application/screening-ports';

/** Screening as in the service: real accounts, real reservations, two replicas. */

const DAILY_COUNT: PayoutRule = { kind: 'daily-count', max: 10 };
const DAILY_EUR: PayoutRule = { kind: 'daily-amount', currency: 'EUR', maxE4: 1_000_000 };
const PASSED = { passed: true };
const REFRESH_MS = 30_000;
const MIDNIGHT = Date.UTC(2026, 2, 1);
const HOUR_MS = 3_600_000;

const databasePrefix = `payout-screening-${randomBytes(4).toString('hex')}-`;
const { mongoUri: uri } = testServers();

interface Replica {
  screening: Screening;
  mongo: MongoConnection;
  accounts: OpenAccounts;
}

let replicas: [Replica, Replica];
let clock = Date.now();
/** What an account has paid to a receiver a week ago or earlier. */
const paidReceivers = new Map<string, number>();

async function startReplica(): Promise<Replica> {
  const accounts = await openAccounts({ uri, databasePrefix, ...newVaultKeys(), now: () => clock });
  const mongo = await connectMongo({ uri, database: `${databasePrefix}payouts` });
  const reservations = createReservations(mongo, { now: () => clock });
  await reservations.ensureIndexes();
  const paidTo = async ({ merchantAccount, tokens }: PaidReceiver): Promise<number> =>
    tokens.reduce((sum, token) => sum + (paidReceivers.get(`${merchantAccount} ${token}`) ?? 0), 0);
  return { screening: createScreening({ reservations, accounts: accounts.directory, paidTo }), mongo, accounts };
}

beforeAll(async () => {
  replicas = [await startReplica(), await startReplica()];
});

afterAll(async () => {
  const [{ mongo }] = replicas;
  await mongo.mongoose.dropDatabase();
  await mongo.mongoose.getClient().db(`${databasePrefix}accounts`).dropDatabase();
  for (const replica of replicas) {
    await replica.mongo.close();
    await replica.accounts.close();
  }
});

let accountCount = 0;
async function merchantWith(settings: Partial<AccountSettings>): Promise<string> {
  const merchantAccount = `screened_shop_${(accountCount += 1)}`;
  await replicas[0].accounts.administration.create({ merchantAccount, settings });
  return merchantAccount;
}

let payoutCount = 0;
function payoutOf(merchantAccount: string, changes: Partial<ScreenedPayout> = {}): ScreenedPayout {
  return {
    reference: `PAYOUT${String((payoutCount += 1)).padStart(14, '0')}`,
    merchantAccount,
    amountE4: 200_000,
    currency: 'EUR',
    iban: 'LV80BANK0000435195001',
    tokens: ['token-1'],
    acceptedAt: MIDNIGHT,
    ...changes,
  };
}

const [first, second] = [0, 1].map((index) => ({
  screen: (payout: ScreenedPayout) => (replicas[index] as Replica).screening.screen(payout),
  release: (reference: string) => (replicas[index] as Replica).screening.release(reference),
})) as [Screening, Screening];

const reserved = (merchantAccount: string) =>
  replicas[0].mongo.collection<{ ledger: string }>('reservations').countDocuments({
    ledger: { $regex: `^${merchantAccount}/` },
  });

/** As the database does within a minute, by its own clock. */
async function expireReservations(): Promise<void> {
  const reservations = replicas[0].mongo.collection<{ expiresAt: Date }>('reservations');
  await reservations.deleteMany({ expiresAt: { $lte: new Date(clock) } });
}

it('of 100 concurrent payouts at two replicas, exactly as many pass as the limits allow', async () => {
  for (const [rules, allowed] of [
    [[DAILY_COUNT], 10],
    [[DAILY_EUR], 5],
    [[DAILY_COUNT, DAILY_EUR], 5],
  ] as const) {
    const merchantAccount = await merchantWith({ payoutRules: rules });
    const decisions = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? first : second).screen(payoutOf(merchantAccount))),
    );
    expect(decisions.filter(({ passed }) => passed)).toHaveLength(allowed);
    expect(decisions.filter((one) => !one.passed && one.code === 3202)).toHaveLength(100 - allowed);
  }
});

it('after a crash, another replica finds the same decision, and nothing is reserved twice', async () => {
  const merchantAccount = await merchantWith({ payoutRules: [{ kind: 'daily-count', max: 1 }] });
  const [granted, refused] = [payoutOf(merchantAccount), payoutOf(merchantAccount)];
  expect(await first.screen(granted)).toEqual(PASSED);
  expect(await first.screen(refused)).toMatchObject({ passed: false, code: 3202 });
  expect(await second.screen(granted)).toEqual(PASSED);
  expect(await second.screen(refused)).toMatchObject({ passed: false, code: 3202 });
  expect(await reserved(merchantAccount)).toBe(1);
});

it('a payout without success makes room once', async () => {
  const merchantAccount = await merchantWith({ payoutRules: [{ kind: 'daily-count', max: 2 }] });
  const [one, other] = [payoutOf(merchantAccount), payoutOf(merchantAccount)];
  await first.screen(one);
  await first.screen(other);
  await Promise.all([first.release(one.reference), second.release(one.reference)]);
  await second.release(one.reference);
  expect(await second.screen(payoutOf(merchantAccount))).toEqual(PASSED);
  expect(await first.screen(payoutOf(merchantAccount))).toMatchObject({ passed: false, code: 3202 });
});

it('a payout that waits for longer than its reservation is kept does not count against itself', async () => {
  const merchantAccount = await merchantWith({ payoutRules: [{ ...DAILY_EUR, maxE4: 10_000_000 }] });
  const waiting = payoutOf(merchantAccount, { amountE4: 6_000_000 });
  expect(await first.screen(waiting)).toEqual(PASSED);
  clock += 8 * HOUR_MS;
  expect(await first.screen(payoutOf(merchantAccount, { amountE4: 3_000_000 }))).toEqual(PASSED);
  clock += (7 * 24 - 4) * HOUR_MS;
  await expireReservations();
  expect(await reserved(merchantAccount)).toBe(1);
  expect(await replicas[0].screening.screenAgain(waiting)).toEqual(PASSED);
  expect(await reserved(merchantAccount)).toBe(1);
});

it('the day is the UTC day of the acceptance, however late a payout is screened', async () => {
  const merchantAccount = await merchantWith({ payoutRules: [{ kind: 'daily-count', max: 1 }] });
  const at = (acceptedAt: number) => first.screen(payoutOf(merchantAccount, { acceptedAt }));
  expect(await at(MIDNIGHT)).toEqual(PASSED);
  expect(await at(MIDNIGHT - 1)).toEqual(PASSED);
  expect(await at(MIDNIGHT - 2)).toMatchObject({ code: 3202 });
  expect(await at(MIDNIGHT + 86_399_999)).toMatchObject({ code: 3202 });
  expect(await at(MIDNIGHT + 86_400_000)).toEqual(PASSED);
});

it('XTS uses nothing of the EUR limits', async () => {
  const xts: PayoutRule = { kind: 'daily-amount', currency: 'XTS', maxE4: 200_000 };
  const merchantAccount = await merchantWith({ payoutRules: [DAILY_EUR, xts, { kind: 'daily-count', max: 2 }] });
  const in_ = (currency: string) => first.screen(payoutOf(merchantAccount, { currency }));
  expect(await in_('XTS')).toEqual(PASSED);
  expect(await in_('XTS')).toMatchObject({ rule: 'daily-amount' });
  expect([await in_('EUR'), await in_('EUR')]).toEqual([PASSED, PASSED]);
  expect(await in_('EUR')).toMatchObject({ rule: 'daily-count' });
});

it('an account without limits costs no write', async () => {
  const merchantAccount = await merchantWith({
    payoutRules: [
      { kind: 'blocked-countries', countries: ['RS'] },
      { kind: 'daily-amount', currency: 'XTS', maxE4: 1 },
    ],
  });
  const plain = await merchantWith({});
  expect(await first.screen(payoutOf(merchantAccount))).toEqual(PASSED);
  expect(await first.screen(payoutOf(plain))).toEqual(PASSED);
  expect((await reserved(merchantAccount)) + (await reserved(plain))).toBe(0);
});

describe('a receiver who is not known yet', () => {
  const FIRST_TIME: PayoutRule = { kind: 'first-time-receiver', currency: 'EUR', maxE4: 100_000 };
  const newShop = (...more: PayoutRule[]) => merchantWith({ payoutRules: [FIRST_TIME, ...more] });
  const passedOf = (decisions: readonly ScreeningDecision[]) => decisions.filter(({ passed }) => passed).length;

  it('gets the limit in all, however many payouts come at once, at two replicas', async () => {
    const merchantAccount = await newShop();
    const decisions = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? first : second).screen(payoutOf(merchantAccount, { amountE4: 9_000 })),
      ),
    );
    expect(passedOf(decisions)).toBe(11);
    for (const decision of decisions.filter(({ passed }) => !passed)) {
      expect(decision).toMatchObject({ code: 3200, rule: 'first-time-receiver' });
    }
    // Another one has a limit of its own.
    expect(await first.screen(payoutOf(merchantAccount, { amountE4: 100_000, tokens: ['token-2'] }))).toEqual(PASSED);
    expect(await first.screen(payoutOf(merchantAccount, { amountE4: 100_001, tokens: ['token-3'] }))).toMatchObject({
      code: 3200,
    });
  });

  it('gets back what ended without success, and keeps what was granted', async () => {
    const merchantAccount = await newShop();
    const [failed, kept] = [0, 1].map(() => payoutOf(merchantAccount, { amountE4: 50_000 })) as [
      ScreenedPayout,
      ScreenedPayout,
    ];
    expect([await first.screen(failed), await second.screen(kept)]).toEqual([PASSED, PASSED]);
    expect(await second.screen(payoutOf(merchantAccount, { amountE4: 1 }))).toMatchObject({ code: 3200 });
    expect([await second.screen(failed), await first.screen(kept)]).toEqual([PASSED, PASSED]);
    await Promise.all([first.release(failed.reference), second.release(failed.reference)]);
    expect(await second.screen(payoutOf(merchantAccount, { amountE4: 50_000 }))).toEqual(PASSED);
    expect(await second.screen(payoutOf(merchantAccount, { amountE4: 1 }))).toMatchObject({ code: 3200 });
  });

  it('gets back what another rule refused, once that is on record', async () => {
    const merchantAccount = await newShop({ kind: 'daily-count', max: 1 });
    const granted = payoutOf(merchantAccount, { amountE4: 10_000, tokens: ['token-2'] });
    expect(await first.screen(granted)).toEqual(PASSED);
    const refused = payoutOf(merchantAccount, { amountE4: 100_000 });
    expect(await first.screen(refused)).toMatchObject({ code: 3202 });
    await second.release(refused.reference);
    await first.release(granted.reference);
    expect(await second.screen(payoutOf(merchantAccount, { amountE4: 100_000 }))).toEqual(PASSED);
  });

  it('becomes known by old payouts of enough volume alone', async () => {
    const merchantAccount = await newShop();
    paidReceivers.set(`${merchantAccount} token-1`, 49_999);
    expect(await first.screen(payoutOf(merchantAccount))).toMatchObject({ code: 3200 });
    paidReceivers.set(`${merchantAccount} token-1`, 50_000);
    expect(await first.screen(payoutOf(merchantAccount))).toEqual(PASSED);
    expect(await first.screen(payoutOf(merchantAccount, { tokens: ['token-2'] }))).toMatchObject({ code: 3200 });
  });
});

it("an operator's new rule applies within 30 s, but not to earlier grants", async () => {
  const merchantAccount = await merchantWith({ payoutRules: [DAILY_COUNT] });
  const granted = payoutOf(merchantAccount);
  await first.screen(granted);
  await replicas[0].accounts.administration.change(merchantAccount, {
    payoutRulesByKind: { 'blocked-ibans': [{ kind: 'blocked-ibans', ibans: ['lv80 BANK 0000 4351 9500 1'] }] },
  });
  clock += REFRESH_MS;
  expect(await first.screen(payoutOf(merchantAccount))).toEqual({
    passed: false,
    code: 3220,
    rule: 'blocked-ibans',
    reason: 'the receiver is blocked',
  });
  expect(await first.screen(granted)).toEqual(PASSED);
});
