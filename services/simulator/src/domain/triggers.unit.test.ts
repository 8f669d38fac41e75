import type { ResponseCode } from '@gateway/contracts';
import { formatAmountE4, isRegisteredCode, parseAmountE4 } from '@gateway/contracts';
import type { Behaviour } from './triggers';
import { behaviourOfAmount, behaviourOfPayout, behaviourOfVoid } from './triggers';

function e4(amount: string): number {
  const amountE4 = parseAmountE4(amount);
  if (amountE4 === undefined) throw new Error(`not an amount: ${amount}`);
  return amountE4;
}

const APPROVE: Behaviour = { kind: 'approve' };
const decline = (code: ResponseCode): Behaviour => ({ kind: 'decline', code });

describe('the amount of an authorize, sale, capture or refund in XTS', () => {
  it.each<[string, Behaviour]>([
    ['31.00', decline(3100)],
    ['31.01', decline(3101)],
    ['31.40', decline(3140)],
    ['31.70', decline(3170)],
    ['32.00', decline(3200)],
    ['32.21', decline(3221)],
    ['31.09', { kind: 'misbehave', how: 'commits-and-never-answers' }],
    ['31.17', { kind: 'misbehave', how: 'commits-and-answers-garbage' }],
    ['31.18', { kind: 'misbehave', how: 'drops-connection-before-commit' }],
    ['31.24', { kind: 'misbehave', how: 'commits-and-says-unknown' }],
    ['31.25', { kind: 'misbehave', how: 'fails-before-commit' }],
    ['31.33', { kind: 'misbehave', how: 'commits-after-first-inquiry' }],
  ])('%s forces %o', (amount, expected) => {
    expect(behaviourOfAmount(e4(amount), 'XTS')).toEqual(expected);
  });

  it.each(['0', '10', '30.99', '31.41', '31.99', '32.22', '33.00', '31.011', '31.0001', '3101', '0.3101', '41.01'])(
    '%s is approved',
    (amount) => {
      expect(behaviourOfAmount(e4(amount), 'XTS')).toEqual(APPROVE);
    },
  );

  it('forces every registered code from 3100 to 3221, and no other', () => {
    for (let code = 3000; code <= 3400; code++) {
      const behaviour = behaviourOfAmount(e4(formatAmountE4(code * 100)), 'XTS');
      const forced = (code >= 3100 && code <= 3221 && isRegisteredCode(code)) || code === 3133;
      expect([code, behaviour.kind !== 'approve']).toEqual([code, forced]);
    }
  });
});

describe('the void of an authorization in XTS', () => {
  it.each<[string, Behaviour]>([
    ['41.01', decline(3101)],
    ['41.40', decline(3140)],
    ['42.21', decline(3221)],
    ['41.09', { kind: 'misbehave', how: 'commits-and-never-answers' }],
    ['41.33', { kind: 'misbehave', how: 'commits-after-first-inquiry' }],
    ['31.01', APPROVE],
    ['10', APPROVE],
    ['0', APPROVE],
    ['9.99', APPROVE],
    ['41.41', APPROVE],
  ])('of %s leads to %o', (amount, expected) => {
    expect(behaviourOfVoid(e4(amount), 'XTS')).toEqual(expected);
  });
});

describe('the amount of a payout in XTS', () => {
  it.each<[string, Behaviour]>([
    ['31.01', decline(3101)],
    ['32.21', decline(3221)],
    ['33.00', decline(3300)],
    ['33.10', decline(3310)],
    ['33.30', decline(3330)],
    ['31.33', { kind: 'misbehave', how: 'commits-after-first-inquiry' }],
    ['32.22', APPROVE],
    ['33.01', APPROVE],
    ['33.31', APPROVE],
    ['41.01', APPROVE],
  ])('%s leads to %o', (amount, expected) => {
    expect(behaviourOfPayout(e4(amount), 'XTS')).toEqual(expected);
  });
});

it.each(['EUR', 'USD', 'JPY'])('amounts in %s force nothing', (currency) => {
  expect(behaviourOfAmount(e4('31.01'), currency)).toEqual(APPROVE);
  expect(behaviourOfPayout(e4('33.00'), currency)).toEqual(APPROVE);
  expect(behaviourOfVoid(e4('41.09'), currency)).toEqual(APPROVE);
});
