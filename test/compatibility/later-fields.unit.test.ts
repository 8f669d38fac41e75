import type { CardCommand } from '@gateway/contracts';
import type { Stored } from '@gateway/mongo';
import { bodyOf } from '@gateway/mongo';
import type { Delivery, DeliveryEvent } from '../../services/callback-dispatcher/src/domain/delivery';
import { evolve as evolveDelivery, newDelivery } from '../../services/callback-dispatcher/src/domain/delivery';
import type { Payment } from '../../services/card-processing/src/domain/payment';
import * as cards from '../../services/card-processing/src/domain/payments.fixture';
import type { PayoutEvent } from '../../services/payout/src/domain/payout';
import { evolve as evolvePayout } from '../../services/payout/src/domain/payout';
import { inState } from '../../services/payout/src/domain/payouts.fixture';
import type { Authentication, AuthenticationEvent } from '../../services/threeds/src/domain/authentication';
import { evolve as evolveAuthentication } from '../../services/threeds/src/domain/authentication';

/**
 * During an upgrade the old release changes documents of the new one. It must keep the fields that it does not know: those
 * of the document, and of a payment's operations. Those of a state end with the state.
 */
const LATER = { laterField: 'of the next release' };

function fromLater(payment: Payment): Payment {
  return { ...payment, ...LATER, operations: payment.operations.map((operation) => ({ ...operation, ...LATER })) };
}

const COMMANDS: readonly CardCommand[] = [
  ...[cards.purchaseCommand('AuthorizeCard'), cards.purchaseCommand('ChargeCard')],
  cards.authenticationCommand('AuthenticateAndChargeCard'),
  ...[cards.settle(), cards.voidOf(), cards.refund('SALE'), cards.refund('SETT'), cards.voidOf('AU3D', 'VOI3')],
];

/** Payments after each command and after each answer of an acquirer. */
function successors(payment: Payment): Payment[] {
  const known = new Set(payment.operations.map(({ reference }) => reference));
  const asked = COMMANDS.filter(({ data }) => !known.has(data.reference)).map((command) =>
    cards.after(payment, command),
  );
  const { pending } = payment;
  if (pending === undefined) return asked;
  const name = pending.reference.slice(cards.PAYMENT_ID.length);
  return [
    ...asked,
    cards.approved(payment, name),
    cards.answered(payment, name, { kind: 'declined', code: 3101, bank: {} }),
  ];
}

test.each(Object.entries(cards.PAYMENTS))(
  'a payment keeps the fields of a later release: %s',
  (_situation, payment) => {
    const later = successors(fromLater(payment));
    expect(later.length).toBeGreaterThan(0);
    for (const next of later) {
      const kept = next.operations.slice(0, payment.operations.length);
      expect(next).toMatchObject({
        ...LATER,
        operations: [...kept.map(() => LATER), ...next.operations.slice(kept.length)],
      });
    }
  },
);

const PAYOUT_EVENTS: readonly PayoutEvent[] = [
  { type: 'PayoutScreened', screening: { passed: true }, resolveAt: 1 },
  { type: 'SubmissionStarted', bank: 'simulator', resolveAt: 1 },
  { type: 'PayoutHeld', reason: 'operator' },
  { type: 'PayoutReleased', resolveAt: 1 },
  { type: 'PayoutOutcomeUnknown', code: 3109, resolveAt: 1 },
  { type: 'PayoutSubmitted', resolveAt: 1 },
  { type: 'BankSaidMore', bank: { transactionId: 'T1' }, resolveAt: 1 },
  { type: 'InquiryFailed', resolveAt: 1 },
  { type: 'PayoutSettled' },
  { type: 'PayoutReturned', reasonCode: 'AC04' },
  { type: 'PayoutDeclined', code: 3101 },
  { type: 'PayoutFrauded', code: 3200 },
  { type: 'PayoutFailed', code: 3300 },
  { type: 'ReservationsReleased' },
];

test.each(PAYOUT_EVENTS)('a payout keeps the fields of a later release: $type', (event) => {
  for (const payout of Object.values(inState))
    expect(evolvePayout({ ...payout, ...LATER }, event)).toMatchObject(LATER);
});

const delivery: Delivery = newDelivery(
  {
    kind: 'card',
    paymentId: cards.PAYMENT_ID,
    lane: 'lane',
  } as unknown as Parameters<typeof newDelivery>[0],
  { at: 1, claimableAt: 1, correlationId: 'c1' },
);
const DELIVERY_EVENTS: readonly DeliveryEvent[] = [
  { type: 'HandedBack', at: 2 },
  { type: 'Attempted', acknowledged: false, durationMs: 1, nextAttemptAt: 3, at: 2 },
  { type: 'Delivered', at: 2 },
  { type: 'Recovered', at: 2 },
  { type: 'Exhausted', at: 2 },
  { type: 'Resent', at: 2 },
];

test.each(DELIVERY_EVENTS)('a delivery keeps the fields of a later release: $type', (event) => {
  expect(evolveDelivery({ ...delivery, ...LATER }, event)).toMatchObject(LATER);
});

const IDS = { threeDSServerTransId: 'tds-1' };
const AUTHENTICATION_EVENTS: readonly AuthenticationEvent[] = [
  {
    type: 'ChallengeStarted',
    ids: IDS,
    acsUrl: 'https://acs.test',
    card: { scheme: 'other', lastDigits: '1111' },
    expiresAt: 2,
  },
  { type: 'Authenticated', ids: IDS, challenged: false, eci: 5, authenticationValue: 'AAAB' },
  { type: 'Refused', ids: IDS, challenged: false, code: 3103 },
  { type: 'ReturnUrlChosen', url: 'https://shop.test' },
];

test.each(AUTHENTICATION_EVENTS)('an authentication keeps the fields of a later release: $type', (event) => {
  const authentication = { ids: IDS, state: { kind: 'requested' }, ...LATER } as unknown as Authentication;
  expect(evolveAuthentication(authentication, event)).toMatchObject(LATER);
});

test('the store passes fields of a later release on', () => {
  const stored = { _id: 'x', version: 1, eventSeq: 1, outbox: [], known: 1, ...LATER } as Stored<{ known: number }>;
  expect(bodyOf(stored)).toEqual({ known: 1, ...LATER });
});
