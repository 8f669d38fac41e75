import type { BankStatement } from './bank-answers';
import type { Payout, PayoutEvent, PayoutRequest, PayoutState } from './payout';
import { evolve } from './payout';

export const NOW = 1_700_000_001_000;

export const request: PayoutRequest = {
  payoutId: 'ABCDEFGHIJ012345',
  reference: 'ABCDEFGHIJ0123456789',
  merchantAccount: 'merchant_1',
  transactionUniqueId: 'payout-1',
  acceptedAt: 1_700_000_000_999,
  amountE4: 310_100,
  feeE4: 8_101,
  currency: 'EUR',
  token: '11111111-2222-4333-8444-555555555555',
  instant: false,
  receiverCountry: 'LT',
  instruction: {
    receiver: { iban: 'LT121000011101001000', name: 'Jonas Jonaitis', address: { city: 'Vilnius' } },
    description: 'Invoice 7',
  },
  callbackUrl: 'https://shop.test/payouts',
};

export function payoutAfter(...events: PayoutEvent[]): Payout {
  const payout = events.reduce<Payout | undefined>(evolve, undefined);
  if (payout === undefined) throw new Error('no events');
  return payout;
}

const accepted: PayoutEvent = { type: 'PayoutAccepted', request };
const screened: PayoutEvent = { type: 'PayoutScreened', screening: { passed: true }, resolveAt: NOW };
const started: PayoutEvent = { type: 'SubmissionStarted', bank: 'simulator', resolveAt: NOW + 9_000 };
const unknown: PayoutEvent = { type: 'PayoutOutcomeUnknown', code: 3109, resolveAt: NOW + 500 };
const settled: PayoutEvent = { type: 'PayoutSettled', bank: { transactionId: 'T1' } };

/** One payout in each state. */
export const inState: Record<PayoutState['kind'], Payout> = {
  accepted: payoutAfter(accepted),
  screened: payoutAfter(accepted, screened),
  held: payoutAfter(accepted, screened, started, { type: 'PayoutHeld', reason: 'operator' }),
  submitting: payoutAfter(accepted, screened, started),
  unknown: payoutAfter(accepted, screened, started, unknown),
  submitted: payoutAfter(accepted, screened, started, { type: 'PayoutSubmitted', resolveAt: NOW + 3_600_000 }),
  settled: payoutAfter(accepted, screened, started, settled),
  returned: payoutAfter(accepted, screened, started, settled, { type: 'PayoutReturned', reasonCode: 'AC04' }),
  declined: payoutAfter(accepted, screened, started, { type: 'PayoutDeclined', code: 3101 }),
  frauded: payoutAfter(accepted, screened, started, { type: 'PayoutFrauded', code: 3200 }),
  failed: payoutAfter(accepted, screened, started, { type: 'PayoutFailed', code: 3300 }),
};

/** One report of each kind. */
export const reports = {
  submitted: { kind: 'submitted' },
  settled: { kind: 'settled', bank: { transactionId: 'T2' } },
  declined: { kind: 'declined', code: 3102 },
  frauded: { kind: 'frauded', code: 3220 },
  failed: { kind: 'failed', code: 3310 },
  returned: { kind: 'returned', reasonCode: 'AC04' },
} as const satisfies Record<BankStatement['kind'], BankStatement>;
