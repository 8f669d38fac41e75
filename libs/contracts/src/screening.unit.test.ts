import { createScreen } from './screening';

type Rule = { kind: 'small'; max: number } | { kind: 'even' };

const screen = createScreen<Rule, number>('test', {
  even: { code: 3200, reason: (_rule, number) => (number % 2 === 0 ? undefined : `${number} is odd`) },
  small: { code: 3202, reason: ({ max }, number) => (number <= max ? undefined : `${number} is above ${max}`) },
});
const SMALL: Rule = { kind: 'small', max: 5 };
const UNKNOWN = { kind: 'prime' } as unknown as Rule;

it('applies rules in the order of their kinds, unknown ones first', () => {
  const larger: Rule = { kind: 'small', max: 9 };
  expect(screen.inOrder([larger, SMALL, { kind: 'even' }, UNKNOWN])).toEqual([
    UNKNOWN,
    { kind: 'even' },
    larger,
    SMALL,
  ]);
});

it.each<[Rule, number, object | undefined]>([
  [SMALL, 5, undefined],
  [SMALL, 6, { code: 3202, rule: 'small', reason: '6 is above 5' }],
  [{ kind: 'even' }, 6, undefined],
  [{ kind: 'even' }, 7, { code: 3200, rule: 'even', reason: '7 is odd' }],
])('%j decides about %i', (rule, number, hit) => expect(screen.hit(rule, number)).toEqual(hit));

it.each([UNKNOWN, { kind: 'toString' } as unknown as Rule])('lets nothing pass the unknown rule %j', (rule) => {
  expect(() => screen.hit(rule, 2)).toThrow(`test rule ${rule.kind} is unknown`);
});
