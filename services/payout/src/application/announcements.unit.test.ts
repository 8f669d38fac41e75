import type { PayoutRecord } from '@gateway/contracts';
import { payoutEvents, validatorOf } from '@gateway/contracts';
import type { Payout, PayoutEvent } from '../domain/payout';
import { evolve } from '../domain/payout';
import { inState, NOW, request } from '../domain/payouts.fixture';
import { announce } from './announcements';

const TIMED_OUT = 'Internal timeout';
const RESOLVE = { resolveAt: NOW };
const HIT = { passed: false, code: 3200, rule: 'daily', reason: 'too much' } as const;

/** Each event that is announced, with a payout before it. */
const HISTORY: readonly [before: Payout | undefined, event: PayoutEvent][] = [
  [undefined, { type: 'PayoutAccepted', request }],
  [inState.accepted, { type: 'PayoutScreened', screening: { passed: true }, ...RESOLVE }],
  [inState.accepted, { type: 'PayoutScreened', screening: HIT, ...RESOLVE }],
  [inState.submitting, { type: 'PayoutSubmitted', ...RESOLVE }],
  [inState.submitting, { type: 'PayoutOutcomeUnknown', code: 3109, ...RESOLVE }],
  [inState.unknown, { type: 'PayoutSettled' }],
  [inState.submitted, { type: 'PayoutDeclined', code: 3101 }],
  [inState.submitted, { type: 'PayoutFrauded', code: 3220 }],
  [inState.screened, { type: 'PayoutFailed', code: 3300 }],
  [inState.settled, { type: 'PayoutReturned', reasonCode: 'AC04' }],
];

function announced([before, event]: (typeof HISTORY)[number]) {
  const found = announce(evolve(before, event), event, { at: NOW });
  if (found === undefined) throw new Error(`${event.type} is not announced`);
  return { type: found.type as keyof typeof payoutEvents, data: found.data as PayoutRecord };
}

test('what is published about any payout is as the schemas for readers outside say', () => {
  const all = HISTORY.map(announced);
  const problems = all.flatMap(({ type, data }) => validatorOf(payoutEvents[type].written, type).problem(data) ?? []);
  expect(problems).toEqual([]);
  expect([...new Set(all.map(({ type }) => type))].sort()).toEqual(Object.keys(payoutEvents).sort());
});

test('no payout on its way says that it has timed out', () => {
  const messages = HISTORY.map(announced).map(({ data }) => data.message);
  expect(messages).toHaveLength(HISTORY.length);
  expect(messages).not.toContain(TIMED_OUT);
  expect(messages[0]).toBe('Payout accepted');
});

test.each([
  [{ currency: 'EUR' }, 'live'],
  [{ currency: 'XTS' }, 'sandbox'],
  [{ currency: 'EUR', isTest: true }, 'sandbox'],
] as const)('a payout of %o is %s', (more, mode) => {
  const event: PayoutEvent = { type: 'PayoutAccepted', request: { ...request, ...more } };
  expect(announced([undefined, event]).data.mode).toBe(mode);
});
