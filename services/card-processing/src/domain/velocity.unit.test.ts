import fc from 'fast-check';
import type { Subjects, Used, VelocityRule } from './velocity';
import { PAID_CARDS_PER_DECLINE, rulesOn, velocityHit } from './velocity';

const SUBJECTS: Subjects = { ip: '192.0.2.1', card: 'hash', bin: '411111', email: 'ann@example.com', account: '' };
const rule = (kind: VelocityRule['kind'], by: VelocityRule['by'], max = 3): VelocityRule => ({
  kind,
  by,
  max,
  windowSeconds: 3_600,
});

describe('rules', () => {
  it('count each subject of an attempt, declines first', () => {
    const rules = [rule('attempts', 'account'), rule('declines', 'ip'), rule('declines', 'email')];
    expect(rulesOn(rules, SUBJECTS)).toEqual([
      { rule: rules[1], value: '192.0.2.1' },
      { rule: rules[2], value: 'ann@example.com' },
      { rule: rules[0], value: '' },
    ]);
  });

  it('count nothing by a subject that the attempt does not have', () => {
    expect(rulesOn([rule('declines', 'ip')], { ...SUBJECTS, ip: undefined })).toEqual([]);
  });

  it.each(['device', 'toString'])('let nothing pass by the unknown subject %s', (by) => {
    const later = rule('declines', by as 'ip');
    expect(() => rulesOn([later], SUBJECTS)).toThrow(`card rules by ${by} are unknown`);
  });

  it('of an unknown kind let nothing pass', () => {
    const later = rule('refunds' as 'declines', 'ip');
    expect(() => velocityHit(later, { declines: 0, paid: 0, attempts: 0 })).toThrow('card rule refunds is unknown');
  });
});

it.each<[VelocityRule, Used, string | undefined]>([
  [rule('declines', 'ip'), { declines: 2, paid: 0, attempts: 100 }, undefined],
  [rule('declines', 'ip'), { declines: 3, paid: 0, attempts: 0 }, '3 declines in 3600 s, 3 are allowed'],
  [rule('declines', 'ip'), { declines: 9, paid: 0, attempts: 7 }, '9 declines in 3600 s, 3 are allowed'],
  [
    rule('declines', 'ip'),
    { declines: 2, paid: 0, attempts: 101 },
    '103 declines and attempts under way in 3600 s, 103 are allowed',
  ],
  [rule('declines', 'ip'), { declines: 5, paid: 9, attempts: 0 }, undefined],
  [rule('declines', 'ip'), { declines: 5, paid: 8, attempts: 0 }, '3 declines in 3600 s, 3 are allowed'],
  [rule('declines', 'email'), { declines: 5, paid: 9, attempts: 0 }, undefined],
  [rule('declines', 'card'), { declines: 3, paid: 9, attempts: 0 }, '3 declines in 3600 s, 3 are allowed'],
  [rule('declines', 'card'), { declines: 1, paid: 0, attempts: 1 }, undefined],
  [
    rule('declines', 'card'),
    { declines: 1, paid: 0, attempts: 2 },
    '3 declines and attempts under way in 3600 s, 3 are allowed',
  ],
  [rule('attempts', 'card'), { declines: 0, paid: 0, attempts: 2 }, undefined],
  [rule('attempts', 'card'), { declines: 0, paid: 0, attempts: 3 }, '3 attempts in 3600 s, 3 are allowed'],
])('%j after %j: %p', (tested, used, reason) => {
  const code = tested.kind === 'declines' ? 3200 : 3202;
  const expected = reason === undefined ? undefined : { code, reason, rule: `${tested.kind} by ${tested.by}` };
  expect(velocityHit(tested, used)).toEqual(expected);
});

it('three cards that paid make up for one decline', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), (declines, cards) => {
      // What a counter holds: cards pay for declines that came before.
      const paid = Math.min(cards, declines * PAID_CARDS_PER_DECLINE);
      const used = { declines, paid, attempts: 0 };
      const hit = velocityHit(rule('declines', 'ip'), used);
      expect(hit === undefined).toBe(declines - Math.floor(paid / PAID_CARDS_PER_DECLINE) < 3);
    }),
  );
});
