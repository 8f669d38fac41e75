import type { Subjects, VelocityRule } from './velocity';
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
    expect(() => velocityHit(later, 0)).toThrow('card rule refunds is unknown');
  });
});

it.each<[VelocityRule['kind'], number, number | undefined, string | undefined]>([
  ['declines', -7, undefined, undefined],
  ['declines', 2, undefined, undefined],
  ['declines', 3, 3200, '3 more declines than approvals in 3600 s, 3 are allowed'],
  ['declines', 9, 3200, '9 more declines than approvals in 3600 s, 3 are allowed'],
  ['attempts', 2, undefined, undefined],
  ['attempts', 3, 3202, '3 attempts in 3600 s, 3 are allowed'],
])('%s: after %i the code is %p', (kind, used, code, reason) => {
  const expected = code === undefined ? undefined : { code, reason, rule: `${kind} by card` };
  expect(velocityHit(rule(kind, 'card'), used)).toEqual(expected);
});
