import { request } from '../domain/payouts.fixture';
import type { ScreeningRule } from '../domain/screening';
import type { Claim } from './screen-payout';
import { createScreening } from './screen-payout';
import { screenedPayoutOf } from './screened-payout';
import type { ScreenedPayout } from './screening-ports';

const DAILY: ScreeningRule = { kind: 'daily-amount', currency: 'EUR', maxE4: 1_000_000 };
const FIRST_TIME: ScreeningRule = { kind: 'first-time-receiver', currency: 'EUR', maxE4: 100_000 };
const BLOCKED: ScreeningRule = { kind: 'blocked-countries', countries: ['RS'] };
const PASSED = { passed: true };

const payout = (changes: Partial<ScreenedPayout> = {}): ScreenedPayout => ({
  reference: 'PAYOUT00000000010001',
  merchantAccount: 'acme_shop',
  amountE4: 200_000,
  currency: 'EUR',
  iban: 'LV80BANK0000435195001',
  tokens: ['token-1'],
  acceptedAt: Date.UTC(2026, 2, 1, 12),
  ...changes,
});

/** A screening whose account has `rules`, and its calls to the ports. */
function given(
  rules: ScreeningRule[],
  world: { paid?: Record<string, number>; granted?: string[]; used?: number } = {},
) {
  const asked: string[] = [];
  const claims: Claim[] = [];
  const screening = createScreening({
    accounts: { find: (name) => Promise.resolve(name === 'acme_shop' ? { payoutRules: rules } : undefined) },
    paidTo: ({ merchantAccount, tokens, currency, until }) => {
      asked.push(`paid ${merchantAccount} ${tokens.join()} ${currency} ${new Date(until).toISOString()}`);
      return Promise.resolve(tokens.reduce((sum, token) => sum + (world.paid?.[token] ?? 0), 0));
    },
    reservations: {
      has: (reference) => {
        asked.push('has');
        return Promise.resolve(world.granted?.includes(reference) ?? false);
      },
      reserve: (claim) => {
        if (world.granted?.includes(claim.reference)) return Promise.resolve(undefined);
        claims.push(claim);
        return Promise.resolve(claim.refuse({ amountE4: world.used ?? 0, count: 1 }));
      },
      release: (reference) => Promise.resolve(void asked.push(`release ${reference}`)),
    },
  });
  return { screening, asked, claims };
}

it('without rules passes every payout and calls no port', async () => {
  const { screening, asked, claims } = given([]);
  expect(await screening.screen(payout())).toEqual(PASSED);
  expect({ asked, claims }).toEqual({ asked: [], claims: [] });
});

it('uses the limits of the account, the UTC day of acceptance and the currency', async () => {
  const { screening, claims } = given([DAILY]);
  expect(await screening.screen(payout())).toEqual(PASSED);
  expect(claims).toMatchObject([
    { reference: 'PAYOUT00000000010001', ledger: 'acme_shop/2026-03-01/EUR', amountE4: 200_000 },
  ]);
  await screening.screen(payout({ currency: 'XTS' }));
  expect(claims).toHaveLength(1);
});

it('returns code, rule and reason of a refusal', async () => {
  const { screening } = given([DAILY], { used: 900_000 });
  expect(await screening.screen(payout())).toEqual({
    passed: false,
    code: 3202,
    rule: 'daily-amount',
    reason: 'EUR 90 of 100 a day are used',
  });
});

it('reserves nothing for a payout that another rule refuses', async () => {
  const { screening, claims } = given([DAILY, FIRST_TIME, BLOCKED], { used: 1_000_000 });
  expect(await screening.screen(payout({ iban: 'RS35260005601001611379' }))).toMatchObject({ code: 3220 });
  expect(claims).toEqual([]);
  expect(await screening.screen(payout())).toMatchObject({ code: 3200, rule: 'first-time-receiver' });
  expect(claims.map(({ ledger }) => ledger)).toEqual(['acme_shop/receiver/token-1/EUR']);
});

it('knows a receiver by what was paid a week ago and came to half of the limit, under any key', async () => {
  const { screening, asked, claims } = given([FIRST_TIME], { paid: { 'token-old': 50_000, 'token-1': 49_999 } });
  const screened = screenedPayoutOf({ ...request, merchantAccount: 'acme_shop', currency: 'EUR', amountE4: 200_000 });
  expect(await screening.screen({ ...screened, tokens: ['token-new', 'token-old'] })).toEqual(PASSED);
  expect(claims).toEqual([]);
  expect(await screening.screen(payout())).toMatchObject({ code: 3200 });
  expect(asked).toEqual([
    `paid acme_shop token-new,token-old EUR ${new Date(request.acceptedAt - 7 * 86_400_000).toISOString()}`,
    'paid acme_shop token-1 EUR 2026-02-22T12:00:00.000Z',
    'has',
  ]);
});

it('limits the sum to a receiver who is not known, with what other payouts have taken', async () => {
  const { screening, claims } = given([FIRST_TIME], { used: 60_000 });
  expect(await screening.screen(payout({ amountE4: 40_000 }))).toEqual(PASSED);
  expect(await screening.screen(payout({ amountE4: 40_001 }))).toMatchObject({
    code: 3200,
    reason: 'the receiver is not known yet: 6 of EUR 10 are used',
  });
  expect(claims.map(({ reference }) => reference)).toEqual(Array(2).fill('PAYOUT00000000010001/receiver'));
});

it('checks the limits if the receiver is known', async () => {
  const { screening } = given([DAILY, FIRST_TIME], { paid: { 'token-1': 100_000 }, used: 900_000 });
  expect(await screening.screen(payout())).toMatchObject({ code: 3202 });
});

it('passes an earlier grant even if the rules have changed', async () => {
  const { screening } = given([DAILY, FIRST_TIME, BLOCKED], { granted: ['PAYOUT00000000010001'] });
  expect(await screening.screen(payout({ iban: 'RS35260005601001611379' }))).toEqual(PASSED);
  expect(await screening.screen(payout())).toEqual(PASSED);
});

it('keeps a place in the limits of a payout that has waited, but not its receiver', async () => {
  const granted = { granted: ['PAYOUT00000000010001'], used: 1_000_000 };
  const { screening, claims } = given([DAILY, FIRST_TIME, BLOCKED], granted);
  expect(await screening.screenAgain(payout({ iban: 'RS35260005601001611379' }))).toMatchObject({ code: 3220 });
  expect(await screening.screenAgain(payout())).toMatchObject({ code: 3200 });
  expect(claims.map(({ ledger }) => ledger)).toEqual(['acme_shop/receiver/token-1/EUR']);
  const kept = given([DAILY, FIRST_TIME], { granted: ['PAYOUT00000000010001/receiver'], used: 1_000_000 });
  expect(await kept.screening.screenAgain(payout())).toEqual(PASSED);
});

it('passes nothing without an account, or with an unknown kind of rule', async () => {
  const { screening } = given([{ kind: 'weekly-amount' } as unknown as ScreeningRule]);
  await expect(screening.screen(payout())).rejects.toThrow('weekly-amount');
  await expect(screening.screenAgain(payout())).rejects.toThrow('weekly-amount');
  await expect(screening.screen(payout({ merchantAccount: 'no_such_shop' }))).rejects.toThrow(
    'no account no_such_shop',
  );
});

it('releases by reference', async () => {
  const { screening, asked } = given([]);
  await screening.release('PAYOUT00000000010001');
  expect(asked).toEqual(['release PAYOUT00000000010001/receiver', 'release PAYOUT00000000010001']);
});
