import type { Subjects, Used, VelocityRule } from './velocity';
import { rulesOn, velocityHit } from './velocity';

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
    expect(() => velocityHit(later, { declines: 0, attempts: 0 })).toThrow('card rule refunds is unknown');
  });
});

it.each<[VelocityRule, Used, string | undefined]>([
  [rule('declines', 'ip'), { declines: 2, attempts: 100 }, undefined],
  [rule('declines', 'ip'), { declines: 3, attempts: 0 }, '3 more declines than approvals in 3600 s, 3 are allowed'],
  [rule('declines', 'ip'), { declines: 9, attempts: 7 }, '9 more declines than approvals in 3600 s, 3 are allowed'],
  [
    rule('declines', 'ip'),
    { declines: 2, attempts: 101 },
    '103 declines and attempts under way in 3600 s, 103 are allowed',
  ],
  [rule('declines', 'card'), { declines: 1, attempts: 1 }, undefined],
  [
    rule('declines', 'card'),
    { declines: 1, attempts: 2 },
    '3 declines and attempts under way in 3600 s, 3 are allowed',
  ],
  [rule('attempts', 'card'), { declines: 0, attempts: 2 }, undefined],
  [rule('attempts', 'card'), { declines: 0, attempts: 3 }, '3 attempts in 3600 s, 3 are allowed'],
])('%j after %j: %p', (tested, used, reason) => {
  const code = tested.kind === 'declines' ? 3200 : 3202;
  const expected = reason === undefined ? undefined : { code, reason, rule: `${tested.kind} by ${tested.by}` };
  expect(velocityHit(tested, used)).toEqual(expected);
});
