import fc from 'fast-check';
import type { AccountStatement, Balance } from './booking';
import { gapIn, readBooking } from './booking';
import { decimalText, scaledDecimal } from './euro';

const money = (cents: number, side: Balance['side']): Balance => ({
  amount: (cents / 100).toFixed(2),
  currency: 'EUR',
  side,
});
/** A balance may be a debit. */
const balance = (cents: number): Balance => money(Math.abs(cents), cents < 0 ? 'debit' : 'credit');

const entries = fc.array(
  fc.record({ cents: fc.nat({ max: 99_999_999_999 }), isDebit: fc.boolean(), isBooked: fc.boolean() }),
);

function statement(opening: number, all: readonly { cents: number; isDebit: boolean; isBooked: boolean }[]) {
  const booked = all.filter(({ isBooked }) => isBooked);
  const closing = booked.reduce((sum, { cents, isDebit }) => sum + (isDebit ? -cents : cents), opening);
  const made = all.map(({ cents, isDebit, isBooked }) => ({
    ...money(cents, isDebit ? 'debit' : 'credit'),
    ...{ isBooked, isReversal: false, bookings: [] },
  }));
  return { id: 'S-1', opening: balance(opening), closing: balance(closing), entries: made } satisfies AccountStatement;
}

test('booked entries lead from the opening balance to the closing one', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), entries, (opening, all) => {
      expect(gapIn(statement(opening, all))).toBeUndefined();
    }),
  );
});

test('a statement that leaves a booked entry out is noticed', () => {
  const oneMore = fc.record({ cents: fc.integer({ min: 1, max: 1e9 }), isDebit: fc.boolean() });
  fc.assert(
    fc.property(entries, oneMore, fc.nat(), (all, left, at) => {
      const place = at % (all.length + 1);
      const whole = statement(0, [...all.slice(0, place), { ...left, isBooked: true }, ...all.slice(place)]);
      const shown = { ...whole, entries: whole.entries.filter((_, index) => index !== place) };
      expect(gapIn(shown)).toMatch(/^S-1: its balances differ by -?\d+\.\d+, and its entries add up to -?\d+\.\d+$/);
    }),
  );
});

test('a statement without both balances proves nothing', () => {
  const { opening: _opening, ...without } = statement(0, [{ cents: 1, isDebit: true, isBooked: true }]);
  expect(gapIn({ ...without, closing: balance(99) })).toBeUndefined();
});

test('decimals are read exactly, however they are written', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat({ max: 3 }), (scaled, zeros) => {
      const text = decimalText(scaled);
      expect(scaledDecimal(text)).toBe(scaled);
      expect(scaledDecimal(`+${'0'.repeat(zeros)}${text}`)).toBe(scaled);
    }),
  );
  for (const text of ['', '.', '1,5', '1e3', '-1', '1.000001', '9'.repeat(31)])
    expect(scaledDecimal(text)).toBeUndefined();
});

test('a debit decides only what no other report has decided, and a return only what is not declined', () => {
  const debit = { ...money(3_101, 'debit'), bankReference: 'B-1' };
  const back = { ...money(3_101, 'credit'), returned: { code: 'AC04' } };
  const read = (fate: 'open' | 'settled' | 'declined' | 'returned', booking: typeof debit | typeof back) =>
    readBooking({ fate, settledBy: 'either', amountE4: 310_100 }, { booking, isReversal: false }).kind;
  const fates = ['open', 'settled', 'declined', 'returned'] as const;
  expect(fates.map((fate) => read(fate, debit))).toEqual(['settled', 'nothing-new', 'settled', 'nothing-new']);
  expect(fates.map((fate) => read(fate, back))).toEqual(['returned', 'returned', 'nothing-new', 'nothing-new']);
});
