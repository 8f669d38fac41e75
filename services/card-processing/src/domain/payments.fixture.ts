import type {
  AuthenticationCommand,
  CardCommand,
  PurchaseCommand,
  ResponseCode,
  ThreedsEvent,
} from '@gateway/contracts';
import { decideAuthentication } from './decide-authentication';
import type { Facts } from './decide';
import { decide, decideAnswer, refusal } from './decide';
import type { Payment, PaymentState, Route } from './payment';
import { evolve, newPayment } from './payment';

/** Builds payments for tests as in production: through commands and answers. */
export const NOW = Date.UTC(2026, 0, 15);
export const HOLD_SECONDS = 3600;
export const PAYMENT_ID = 'PAYMENT000000001';
export const ROUTE: Route = { acquirer: 'simulator', midReference: 'MD0000000000000A', lateVoid: false };
export const FACTS: Facts = {
  now: NOW,
  card: { brand: 'Visa', expMonth: '12', expYear: '2030', testCard: true },
  route: ROUTE,
  leaseEnd: () => NOW + 9_000,
  authenticationEnd: NOW + 1_200_000,
};
export const TIMES = { now: NOW, leaseEnd: NOW + 9_000 };

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

export function purchaseCommand(
  type: 'AuthorizeCard' | 'ChargeCard',
  more: Partial<PurchaseCommand['data']> = {},
): PurchaseCommand {
  const name = type === 'ChargeCard' ? 'SALE' : 'AUTH';
  return { type, data: { ...accepted(name), ...money({}), token: TOKEN, withCvv: true, customer: CUSTOMER, ...more } };
}

/** Of the proof that belongs to {@link authenticated}. */
export const PROOF_HASH = 'ab'.repeat(32);
export const IDS = { threeDSServerTransId: 'tds-1', dsTransId: 'ds-1', acsTransId: 'acs-1' };
export const ACS_URL = 'https://threeds.example/challenge/1';

export function authenticationCommand(
  type: AuthenticationCommand['type'],
  more: Partial<AuthenticationCommand['data']> = {},
): AuthenticationCommand {
  const name = type === 'AuthenticateCard' ? 'AU3D' : 'SA3D';
  const redirectUrl = 'https://shop.example/back';
  const data = {
    ...accepted(name),
    ...money({}),
    token: TOKEN,
    withCvv: true,
    customer: CUSTOMER,
    redirectUrl,
    ...more,
  };
  return { type, data };
}

/** A purchase with the proof of the AUTH3D. */
export function provenPurchase(type: 'AuthorizeCard' | 'ChargeCard', more: Partial<PurchaseCommand['data']> = {}) {
  return purchaseCommand(type, { authentication: { reference: ref('AU3D'), pares: 'pares' }, ...more });
}
export const PROVEN: Facts = { ...FACTS, paresHash: PROOF_HASH };

type Told = { [T in ThreedsEvent['type']]: Omit<Extract<ThreedsEvent, { type: T }>['data'], keyof Subject> };
type Subject = { paymentId: string; reference: string; merchantAccount: string; transactionType: 'AUTH3D' | 'SALE3D' };

export const challenge: Told['ChallengeRequired'] = { occurredAt: NOW, acsUrl: ACS_URL, ids: IDS };
export const authenticated: Told['CardholderAuthenticated'] = {
  ...challenge,
  challenged: true,
  eci: 5,
  authenticationValue: 'AAABBBCCC',
  proofHash: PROOF_HASH,
};
export const refused = (code: ResponseCode): Told['AuthenticationRefused'] => ({
  occurredAt: NOW,
  challenged: true,
  code,
  ids: IDS,
  proofHash: PROOF_HASH,
});

/** An event of the threeds service about the operation of this name. */
export function threedsEvent<T extends ThreedsEvent['type']>(
  type: T,
  name: 'AU3D' | 'SA3D',
  data: Told[T],
): ThreedsEvent {
  const subject: Subject = {
    paymentId: PAYMENT_ID,
    reference: ref(name),
    merchantAccount: 'merchant',
    transactionType: name === 'AU3D' ? 'AUTH3D' : 'SALE3D',
  };
  return { type, data: { ...subject, ...data } } as unknown as ThreedsEvent;
}

export function afterEvent(payment: Payment, event: ThreedsEvent, now = NOW): Payment {
  return decideAuthentication(payment, event, { ...TIMES, now }).reduce(evolve, payment);
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

/** The payment after a command: with its events, or with its refusal. */
export function after(payment: Payment, command: CardCommand, facts: Facts = FACTS): Payment {
  const decided = decide(payment, command, facts);
  return (typeof decided === 'string' ? [refusal(command, decided)] : decided).reduce(evolve, payment);
}

export function approved(payment: Payment, name: string): Payment {
  const answer = { kind: 'approved', authcode: 'A1B2C3', bank: { transactionId: `bank-${name}` } } as const;
  return answered(payment, name, answer);
}

export function answered(payment: Payment, name: string, answer: Parameters<typeof decideAnswer>[2]): Payment {
  const facts = { now: NOW, holdSeconds: HOLD_SECONDS, inquireAt: NOW + 500 };
  return decideAnswer(payment, ref(name), answer, facts).reduce(evolve, payment);
}

const nothing = newPayment('merchant');
const authorizing = after(nothing, purchaseCommand('AuthorizeCard'));
const authorized = approved(authorizing, 'AUTH');
const settling = after(authorized, settle());
const settled = approved(settling, 'SETT');
const charging = after(nothing, purchaseCommand('ChargeCard'));
const charged = approved(charging, 'SALE');
const lateVoid = (payment: Payment): Payment => ({ ...payment, route: { ...ROUTE, lateVoid: true } });

const authenticating = after(nothing, authenticationCommand('AuthenticateCard'));
const challenged = afterEvent(authenticating, threedsEvent('ChallengeRequired', 'AU3D', challenge));
const proven = afterEvent(challenged, threedsEvent('CardholderAuthenticated', 'AU3D', authenticated));
const chargingProven = after(proven, provenPurchase('ChargeCard'), PROVEN);
const authorizedProven = approved(after(proven, provenPurchase('AuthorizeCard'), PROVEN), 'AUTH');
const authenticatingSale = after(nothing, authenticationCommand('AuthenticateAndChargeCard'));
const challengedSale = afterEvent(authenticatingSale, threedsEvent('ChallengeRequired', 'SA3D', challenge));
const chargingAuthenticated = afterEvent(
  challengedSale,
  threedsEvent('CardholderAuthenticated', 'SA3D', authenticated),
);

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
  charging,
  charged,
  'sale declined': answered(charging, 'SALE', { kind: 'declined', code: 3101, bank: {} }),
  refunding: after(charged, refund('SALE')),
  refunded: approved(after(charged, refund('SALE')), 'REFU'),
  tokenized: after(nothing, tokenize),
  'AUTH3D asked for': authenticating,
  'AUTH3D challenged': challenged,
  'AUTH3D authenticated': proven,
  'AUTH3D failed': afterEvent(challenged, threedsEvent('AuthenticationRefused', 'AU3D', refused(3103))),
  'AUTH3D cancelled': afterEvent(challenged, threedsEvent('AuthenticationRefused', 'AU3D', refused(3023))),
  'AUTH3D out of time': afterEvent(challenged, threedsEvent('AuthenticationRefused', 'AU3D', refused(3024))),
  'AUTH3D voided': after(proven, voidOf('AU3D')),
  'AUTH3D voided in its challenge': after(challenged, voidOf('AU3D')),
  'AUTH3D used by a SALE': chargingProven,
  'AUTH3D used by a SALE that was declined': answered(chargingProven, 'SALE', {
    kind: 'declined',
    code: 3101,
    bank: {},
  }),
  'AUTH3D used by an AUTH': authorizedProven,
  'AUTH3D used by an AUTH that was voided': approved(after(authorizedProven, voidOf()), 'VOID'),
  'SALE3D asked for': authenticatingSale,
  'SALE3D challenged': challengedSale,
  'SALE3D charging': chargingAuthenticated,
  'SALE3D charged': approved(chargingAuthenticated, 'SA3D'),
  'SALE3D failed': afterEvent(challengedSale, threedsEvent('AuthenticationRefused', 'SA3D', refused(3103))),
} as const satisfies Record<string, Payment>;

export type Situation = keyof typeof PAYMENTS;

export function kindOf(payment: Payment): PaymentState['kind'] {
  return payment.state.kind;
}
