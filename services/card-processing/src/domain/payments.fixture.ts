import type { CardCommand, ChargeCommand } from '@gateway/contracts';
import type { Facts } from './decide';
import { decide, decideAnswer, refusal } from './decide';
import type { Payment, PaymentState, Route } from './payment';
import { evolve, newPayment } from './payment';

/** Builds payments for tests the only way they can come about: through commands and answers. */
export const NOW = Date.UTC(2026, 0, 15);
export const HOLD_SECONDS = 3600;
export const PAYMENT_ID = 'PAYMENT000000001';
export const ROUTE: Route = { acquirer: 'simulator', midReference: 'MD0000000000000A', lateVoid: false };
export const FACTS: Facts = {
  now: NOW,
  card: { brand: 'Visa', expMonth: '12', expYear: '2030', testCard: true },
  route: ROUTE,
};

const TOKEN = '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab';
const CUSTOMER = { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email: 'ann@example.com', ip: '192.0.2.1' };

export const ref = (name: string): string => PAYMENT_ID + name.padEnd(4, '0');

function accepted(name: string) {
  return {
    paymentId: PAYMENT_ID,
    reference: ref(name),
    merchantAccount: 'merchant',
    transactionUniqueId: `order-${name}-0000000`,
    acceptedAt: NOW,
    deadline: NOW + 30_000,
    notes: {},
  };
}

export interface Money {
  amountE4?: number;
  currency?: string;
}

const money = ({ amountE4 = 100_000, currency = 'XTS' }: Money) => ({ amountE4, currency });

export function chargeCommand(
  type: 'AuthorizeCard' | 'SellCard',
  more: Partial<ChargeCommand['data']> = {},
): ChargeCommand {
  const name = type === 'SellCard' ? 'SALE' : 'AUTH';
  return { type, data: { ...accepted(name), ...money({}), token: TOKEN, withCvv: true, customer: CUSTOMER, ...more } };
}

export function settle(base = 'AUTH', asked: Money = {}, name = 'SETT'): CardCommand {
  return { type: 'SettleAuthorization', data: { ...accepted(name), ...money(asked), baseReference: ref(base) } };
}

export function voidOf(base = 'AUTH', name = 'VOID'): CardCommand {
  return { type: 'VoidAuthorization', data: { ...accepted(name), baseReference: ref(base) } };
}

export function refund(base: string, asked: Money = {}, name = 'REFU'): CardCommand {
  return { type: 'RefundCharge', data: { ...accepted(name), ...money(asked), baseReference: ref(base) } };
}

export const tokenize: CardCommand = { type: 'TokenizeCard', data: { ...accepted('TOKE'), token: TOKEN } };

/** The payment after a command: with its events, or with its refusal on record. */
export function after(payment: Payment, command: CardCommand, facts: Facts = FACTS): Payment {
  const decided = decide(payment, command, facts);
  return (typeof decided === 'string' ? [refusal(command, decided)] : decided).reduce(evolve, payment);
}

export function approved(payment: Payment, name: string): Payment {
  const answer = { kind: 'approved', authcode: 'A1B2C3', bank: { transactionId: `bank-${name}` } } as const;
  return answered(payment, name, answer);
}

export function answered(payment: Payment, name: string, answer: Parameters<typeof decideAnswer>[2]): Payment {
  return decideAnswer(payment, ref(name), answer, { now: NOW, holdSeconds: HOLD_SECONDS }).reduce(evolve, payment);
}

const nothing = newPayment('merchant');
const authorizing = after(nothing, chargeCommand('AuthorizeCard'));
const authorized = approved(authorizing, 'AUTH');
const settling = after(authorized, settle());
const settled = approved(settling, 'SETT');
const selling = after(nothing, chargeCommand('SellCard'));
const sold = approved(selling, 'SALE');
const lateVoid = (payment: Payment): Payment => ({ ...payment, route: { ...ROUTE, lateVoid: true } });

/** Every state that a payment can be in, some of them in two ways. */
export const PAYMENTS = {
  nothing,
  authorizing,
  authorized,
  'auth declined': answered(authorizing, 'AUTH', { kind: 'declined', code: 3101, bank: {} }),
  settling,
  settled,
  'settled, late void allowed': lateVoid(settled),
  voiding: after(authorized, voidOf()),
  voided: approved(after(authorized, voidOf()), 'VOID'),
  'late voiding': after(lateVoid(settled), voidOf()),
  'late voided': approved(after(lateVoid(settled), voidOf()), 'VOID'),
  'settle refunding': after(settled, refund('SETT')),
  'settle refunded': approved(after(settled, refund('SETT')), 'REFU'),
  selling,
  sold,
  'sale declined': answered(selling, 'SALE', { kind: 'declined', code: 3101, bank: {} }),
  refunding: after(sold, refund('SALE')),
  refunded: approved(after(sold, refund('SALE')), 'REFU'),
  tokenized: after(nothing, tokenize),
} as const satisfies Record<string, Payment>;

export type Situation = keyof typeof PAYMENTS;

export function kindOf(payment: Payment): PaymentState['kind'] {
  return payment.state.kind;
}
