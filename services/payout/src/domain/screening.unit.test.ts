import { utcDay } from '@gateway/contracts';
import fc from 'fast-check';
import type { DailyLimit, Use, PayoutFacts, ReceiverRule, ScreeningRule } from './screening';
import { isDailyLimit, isReceiverRule, limitHit, receiverHit, rulesFor } from './screening';

const IBAN = 'LV80BANK0000435195001';
const FRESH: Use = { amountE4: 0, count: 0 };
const ALL: ScreeningRule[] = [
  { kind: 'daily-count', max: 2 },
  { kind: 'daily-amount', currency: 'EUR', maxE4: 1_000_000 },
  { kind: 'first-time-receiver', currency: 'EUR', maxE4: 500_000 },
  { kind: 'daily-amount', currency: 'XTS', maxE4: 1 },
  { kind: 'blocked-ibans', ibans: [IBAN] },
  { kind: 'first-time-receiver', currency: 'XTS', maxE4: 1 },
  { kind: 'blocked-countries', countries: ['RS', 'LV'] },
];

const payout = (changes: Partial<PayoutFacts> = {}): PayoutFacts => ({
  amountE4: 500_000,
  currency: 'EUR',
  iban: IBAN,
  ...changes,
});

describe('rules', () => {
  it('apply to their currency only, and in a fixed order, whatever order they are stored in', () => {
    const kinds = ['blocked-countries', 'blocked-ibans', 'first-time-receiver', 'daily-amount', 'daily-count'];
    expect(rulesFor(ALL, 'EUR').map(({ kind }) => kind)).toEqual(kinds);
    expect(rulesFor(ALL.toReversed(), 'EUR')).toEqual(rulesFor(ALL, 'EUR'));
    const currencies = (currency: string) =>
      rulesFor(ALL, currency).flatMap((rule) => ('currency' in rule ? [rule.currency] : []));
    expect(currencies('EUR')).toEqual(['EUR', 'EUR']);
    expect(currencies('XTS')).toEqual(['XTS', 'XTS']);
    expect(currencies('USD')).toEqual([]);
  });

  it('check the receiver or the day', () => {
    expect(ALL.filter(isDailyLimit).length + ALL.filter(isReceiverRule).length).toBe(ALL.length);
    expect(ALL.filter(isDailyLimit).map(({ kind }) => kind)).toEqual(['daily-count', 'daily-amount', 'daily-amount']);
  });

  it('of an unknown kind pass nothing', () => {
    const unknown = { kind: 'weekly-amount', max: 1 } as unknown as ScreeningRule;
    const [rule] = rulesFor([unknown], 'EUR').filter(isReceiverRule);
    expect(() => receiverHit(rule as ReceiverRule, payout())).toThrow('payout rule weekly-amount is unknown');
  });
});

describe('a receiver', () => {
  const countries: ReceiverRule = { kind: 'blocked-countries', countries: ['RS', 'LV'] };
  const ibans: ReceiverRule = { kind: 'blocked-ibans', ibans: [IBAN, 'DE89370400440532013000'] };
  const firstTime: ReceiverRule = { kind: 'first-time-receiver', currency: 'EUR', maxE4: 500_000 };

  it.each<[string, ReceiverRule, Partial<PayoutFacts>, number | undefined]>([
    ['in a blocked country', countries, {}, 3220],
    [
      'elsewhere, with the letters of a blocked country inside',
      countries,
      { iban: 'DE89LV0400RS0532013000' },
      undefined,
    ],
    [
      'with an account elsewhere and an address in a blocked country',
      countries,
      { iban: 'DE89370400440532013000', addressCountry: 'RS' },
      3220,
    ],
    [
      'with account and address elsewhere',
      countries,
      { iban: 'DE89370400440532013000', addressCountry: 'FR' },
      undefined,
    ],
    ['who is blocked', ibans, {}, 3220],
    ['whose IBAN only begins like a blocked one', ibans, { iban: `${IBAN}1` }, undefined],
    ['with the most that a new one gets', firstTime, { amountE4: 500_000 }, undefined],
    ['with more than a new one gets', firstTime, { amountE4: 500_001 }, 3200],
  ])('%s', (_, rule, changes, code) => {
    const hit = receiverHit(rule, payout(changes));
    expect(hit?.code).toBe(code);
    if (hit !== undefined) expect(hit.rule).toBe(rule.kind);
  });

  it('is not named by a reason', () => {
    const reasons = [countries, ibans, firstTime].map(
      (rule) => receiverHit(rule, payout({ amountE4: 600_000 }))?.reason,
    );
    expect(reasons).toEqual([
      'country LV is blocked',
      'the receiver is blocked',
      'the receiver is not known yet: 0 of EUR 50 are used',
    ]);
  });
});

describe('a day', () => {
  const amount: DailyLimit = { kind: 'daily-amount', currency: 'EUR', maxE4: 1_000_000 };
  const count: DailyLimit = { kind: 'daily-count', max: 2 };

  it.each<[DailyLimit[], number, Use, string | undefined]>([
    [[amount], 1_000_000, FRESH, undefined],
    [[amount], 1_000_001, FRESH, 'daily-amount'],
    [[amount], 400_000, { amountE4: 600_000, count: 99 }, undefined],
    [[amount], 400_001, { amountE4: 600_000, count: 1 }, 'daily-amount'],
    [[count], 9_000_000, { amountE4: 9_000_000, count: 1 }, undefined],
    [[count], 1, { amountE4: 2, count: 2 }, 'daily-count'],
    [[amount, count], 1, { amountE4: 1_000_000, count: 2 }, 'daily-amount'],
    [[amount, count], 1, { amountE4: 2, count: 2 }, 'daily-count'],
    [[], 1, { amountE4: 2, count: 2 }, undefined],
  ])('with %j: %i after %j', (limits, amountE4, used, rule) => {
    const hit = limitHit(limits, payout({ amountE4 }), used);
    expect(hit?.rule).toBe(rule);
    if (hit !== undefined) expect(hit.code).toBe(3202);
  });

  it('reports its use', () => {
    const used = { amountE4: 999_900, count: 2 };
    expect(limitHit([amount], payout(), used)?.reason).toBe('EUR 99.99 of 100 a day are used');
    expect(limitHit([count], payout(), used)?.reason).toBe('2 of 2 payouts a day are used');
  });

  it('never grants more than its limits, for any payouts', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 700_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(amounts, (wanted) => {
        const used = { ...FRESH };
        for (const amountE4 of wanted) {
          if (limitHit([amount, count], payout({ amountE4 }), used) !== undefined) continue;
          used.amountE4 += amountE4;
          used.count += 1;
        }
        expect(used.amountE4).toBeLessThanOrEqual(1_000_000);
        expect(used.count).toBeLessThanOrEqual(2);
      }),
    );
  });

  it("is UTC's", () => {
    expect(utcDay(Date.UTC(2026, 1, 28, 23, 59, 59, 999))).toBe('2026-02-28');
    expect(utcDay(Date.UTC(2026, 2, 1))).toBe('2026-03-01');
  });
});
