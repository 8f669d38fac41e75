import type { OperationOutcome } from '@gateway/contracts';
import type { Attempt } from './checkout';
import { situationOf } from './checkout';

const ACS = 'http://127.0.0.1:8081/challenge/x';

function attempt(n: number, outcome?: Partial<OperationOutcome>): Attempt {
  const reference = `ABCDEFGHIJKLMNOP000${n}`;
  if (outcome === undefined) return { n, reference, outcome: undefined };
  return {
    n,
    reference,
    outcome: {
      paymentId: 'ABCDEFGHIJKLMNOP',
      reference,
      merchantAccount: 'demo_merchant',
      transactionUniqueId: 'order-00000001',
      transactionType: 'SALE3D',
      status: 'pending',
      code: 11,
      message: 'Internal timeout',
      authcode: null,
      timestamp: n,
      ...outcome,
    },
  };
}
const declined = (n: number) => attempt(n, { status: 'decline', code: 3101 });
const failed = (n: number) => attempt(n, { status: 'error', code: 11 });
const succeeded = (n: number) => attempt(n, { status: 'success', code: 0 });
const pending = (n: number, more: Partial<OperationOutcome> = {}) => attempt(n, { status: 'pending', ...more });

describe('while there is time', () => {
  test.each([
    ['nothing was tried', [], { attempt: 1, attemptsLeft: 3, declined: false }],
    ['one was declined', [declined(1)], { attempt: 2, attemptsLeft: 2, declined: true }],
    ['one failed without moving anything', [failed(1)], { attempt: 2, attemptsLeft: 2, declined: true }],
    ['two were declined', [declined(1), failed(2)], { attempt: 3, attemptsLeft: 1, declined: true }],
  ])('the form is shown when %s', (_name, attempts, expected) => {
    expect(situationOf(attempts, false)).toEqual({ kind: 'form', ...expected });
  });
});

describe.each([false, true])('when the time is over: %s', (timeIsOver) => {
  test.each([
    ['on its way', attempt(2)],
    ['not answered', pending(2)],
    ['unknown', pending(2, { code: 3109 })],
  ])('an attempt that is %s locks the page', (_name, open) => {
    expect(situationOf([declined(1), open], timeIsOver)).toEqual({ kind: 'waiting', attempt: open });
  });

  test('the browser goes to the challenge, if there is one', () => {
    const challenge = pending(1, { acsUrl: ACS });
    expect(situationOf([challenge], timeIsOver)).toEqual({ kind: 'waiting', attempt: challenge, acsUrl: ACS });
    const frictionless = pending(1, { acsUrl: ACS, eci: 5 });
    expect(situationOf([frictionless], timeIsOver)).toEqual({ kind: 'waiting', attempt: frictionless });
  });

  test('a success ends it, even beside a refusal', () => {
    expect(situationOf([declined(1), succeeded(2)], timeIsOver)).toEqual({
      kind: 'finished',
      attempt: succeeded(2),
      succeeded: true,
    });
    expect(situationOf([succeeded(1), failed(2)], timeIsOver)).toMatchObject({ attempt: succeeded(1) });
    expect(situationOf([succeeded(1), attempt(2)], timeIsOver)).toMatchObject({ attempt: succeeded(1) });
  });

  test('an open outcome takes precedence over a later refusal', () => {
    expect(situationOf([pending(1), failed(2)], timeIsOver)).toEqual({ kind: 'waiting', attempt: pending(1) });
  });

  test('the third decline ends it', () => {
    expect(situationOf([declined(1), declined(2), declined(3)], timeIsOver)).toEqual({
      kind: 'finished',
      attempt: declined(3),
      succeeded: false,
    });
  });
});

describe('when the time is over', () => {
  test('the last attempt decides', () => {
    expect(situationOf([declined(1), failed(2)], true)).toEqual({
      kind: 'finished',
      attempt: failed(2),
      succeeded: false,
    });
  });

  test('without an attempt there is no outcome', () => {
    expect(situationOf([], true)).toEqual({ kind: 'expired' });
  });
});
