import fc from 'fast-check';
import { businessDaysBefore } from './business-days';

const at = (day: string) => Date.parse(`${day}T15:30:00Z`);

it.each([
  ['Thursday', '2026-11-26', 1, '2026-11-25'],
  ['Monday', '2026-11-23', 1, '2026-11-20'],
  ['Wednesday', '2026-11-25', 3, '2026-11-20'],
  ['Saturday', '2026-11-28', 1, '2026-11-27'],
  ['Sunday', '2026-11-29', 5, '2026-11-23'],
  ['Friday', '2026-11-27', 10, '2026-11-13'],
])('on a %s, %s, %d business days before is %s', (_day, today, days, expected) => {
  expect(businessDaysBefore(at(today), days)).toBe(at(expected));
});

it('is never on a weekend, and never later if more days are asked for', () => {
  const moments = fc.date({ min: new Date('2026-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, fc.integer({ min: 1, max: 30 }), (moment, days) => {
      const before = businessDaysBefore(moment.getTime(), days);
      expect([0, 6]).not.toContain(new Date(before).getUTCDay());
      expect(before).toBeLessThan(businessDaysBefore(moment.getTime(), days - 1));
    }),
  );
});
