import { isAtRest, pendingReference } from './payment';
import { kindOf, PAYMENTS } from './payments.fixture';

const atRest = new Set(
  Object.values(PAYMENTS)
    .filter((payment) => isAtRest(payment))
    .map(kindOf),
);

it('is at rest, so that it may be removed one day, in these states alone', () => {
  expect([...atRest].toSorted()).toEqual([
    'authenticated',
    'charged',
    'closed',
    'new',
    'refunded',
    'tokenized',
    'voided',
  ]);
});

it('is never at rest while something is pending or money is held', () => {
  for (const payment of Object.values(PAYMENTS)) {
    if (pendingReference(payment) !== undefined || kindOf(payment) === 'authorized')
      expect(isAtRest(payment)).toBe(false);
  }
});

it('is not at rest while a refusal waits for its document', () => {
  const [refusal] = PAYMENTS.voided.operations;
  expect(isAtRest(PAYMENTS.voided)).toBe(true);
  expect(refusal && isAtRest({ ...PAYMENTS.voided, refusal })).toBe(false);
});
