import { randomBytes, randomUUID } from 'node:crypto';
import type { InitiatePayoutData, PayoutOutcome, PayoutRecord } from '@gateway/contracts';
import {
  InitiatePayout,
  newPaymentId,
  newReference,
  parseAmountE4,
  paymentIdOf,
  payoutEvents,
  Secret,
} from '@gateway/contracts';
import { SANDBOX_PAYOUTS } from '@gateway/accounts';
import { clockAt } from '@gateway/mongo';
import { openWorld as openSharedWorld, until } from '@gateway/testing';
import { createPayouts } from '../src/adapters/mongo/payouts';
import type { Payout, PayoutDeps } from '../src/app';
import { createPayout } from '../src/app';
import type { ScreenedPayout, Screening, ScreeningDecision } from '../src/application/screening-ports';
import { settings } from '../src/config';
import { endedWithoutSuccess } from '../src/domain/payout';
import { startBank } from './bank';

export const MERCHANT = 'payout_merchant';
const [XTS_A_DAY] = SANDBOX_PAYOUTS.payoutRules;
/** Payouts in both currencies. */
const PAYOUTS = {
  ...SANDBOX_PAYOUTS,
  payoutRules: [XTS_A_DAY, { ...XTS_A_DAY, currency: 'EUR' }],
  payoutDebtor: 'DE89370400440532013000',
} as const;
export const OTHER_MERCHANT = 'other_merchant';

/** Screening with a rule of the test. Payouts that pass stay reserved until they are released. */
export function testScreening() {
  const reserved = new Set<string>();
  const screened: ScreenedPayout[] = [];
  let rule: (payout: ScreenedPayout) => ScreeningDecision = () => ({ passed: true });
  function screen(payout: ScreenedPayout): Promise<ScreeningDecision> {
    screened.push(payout);
    const decision = rule(payout);
    if (decision.passed) reserved.add(payout.reference);
    return Promise.resolve(decision);
  }
  const screening: Screening & { failReleases: number } = {
    failReleases: 0,
    screen,
    screenAgain: screen,
    release(reference) {
      if (screening.failReleases > 0) {
        screening.failReleases -= 1;
        return Promise.reject(new Error('the database is away'));
      }
      reserved.delete(reference);
      return Promise.resolve();
    },
  };
  return { screening, reserved, screened, rule: (next: typeof rule) => void (rule = next) };
}

/** Two merchants, a bank, and payout services that use it. */
export async function openWorld(name: string) {
  const world = await openSharedWorld<PayoutRecord & Record<string, unknown>>({
    name,
    service: 'payout',
    database: 'payouts',
    source: 'api-edge',
    observed: Object.values(payoutEvents),
  });
  const { mongo, publisher, events } = world;
  const accounts = world.accounts.administration;
  for (const merchantAccount of [MERCHANT, OTHER_MERCHANT]) {
    await accounts.create({ merchantAccount, password: new Secret('payout_password'), settings: PAYOUTS });
  }
  const bank = await startBank();
  const payouts = createPayouts(mongo, clockAt(world.now));
  await payouts.ensureIndexes();

  function start(env: Record<string, string> = {}, changes: Partial<PayoutDeps> = {}): Promise<Payout> {
    const own = {
      PAYOUT_QUERY_PORT: '0',
      PAYOUT_BANK: 'simulator',
      ALLOW_SIMULATED_MONEY: 'yes',
      SIMULATOR_URL: bank.url,
      SIMULATOR_TIMEOUT_MS: '1500',
      ...env,
    };
    return world.start(settings, own, (deps) => createPayout({ ...deps, ...changes }));
  }

  const eventsOf = (reference: string) => events.filter(({ data }) => data.reference === reference);
  return {
    ...world,
    accounts,
    bank,
    payouts,
    start,
    eventsOf,
    typesOf: (reference: string) => eventsOf(reference).map(({ type }) => type),

    /** Sends a command. Returns its reference. */
    async send(data: InitiatePayoutData, key = data.payoutId): Promise<string> {
      await publisher.publish({ declaration: InitiatePayout, data, key });
      return data.reference;
    },
    /** Waits for a state. Fails at once if the payout ends in another one. */
    isIn: (reference: string, kind: string) =>
      until(`${reference} ${kind}`, async () => {
        const state = (await payouts.load(reference))?.state;
        if (state?.kind === kind) return true;
        if (state !== undefined && endedWithoutSuccess(state))
          throw new Error(`${reference}: ${JSON.stringify(state)}`);
        return false;
      }),
    ask: async (service: Payout, path: string, method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${service.ports.query}${path}`, { method });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    outcome: async (service: Payout, reference: string, account = MERCHANT): Promise<PayoutOutcome> => {
      const response = await fetch(`http://127.0.0.1:${service.ports.query}/payouts/${reference}?account=${account}`);
      return (await response.json()) as PayoutOutcome;
    },

    async close() {
      await world.close();
      await bank.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export const IBAN = 'LT121000011101001000';
export const RECEIVER_NAME = 'Ona Paslaptis';

export function payout(amount: string, fields: Partial<InitiatePayoutData> = {}): InitiatePayoutData {
  const reference = newReference(newPaymentId(randomBytes), randomBytes);
  return {
    payoutId: paymentIdOf(reference),
    reference,
    merchantAccount: MERCHANT,
    transactionUniqueId: `payout-${randomUUID().slice(0, 8)}`,
    acceptedAt: Date.now(),
    amountE4: parseAmountE4(amount) ?? 0,
    feeE4: 5_000,
    currency: 'XTS',
    token: randomUUID(),
    instant: false,
    receiver: { iban: IBAN, name: RECEIVER_NAME, address: { street: 'Tylioji', city: 'Kaunas' } },
    description: 'Invoice 7',
    callbackUrl: 'https://shop.test/payouts',
    ...fields,
  };
}
