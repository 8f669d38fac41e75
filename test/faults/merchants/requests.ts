import { TEST_CARDS } from '@gateway/contracts';
import { panFrom } from '../../support/traces';

export type Fields = Record<string, unknown>;

/** Prefix of all test cards. No other number in the system begins with it. */
export const PAN_PREFIX = '492942123456';
export const CVV = '0739';
export const CHALLENGED_CARD = TEST_CARDS.challenged.visa;
export const FRICTIONLESS_CARD = TEST_CARDS.frictionless.visa;

/** One card per merchant, which differ in three digits. */
export function cardNumberOf(merchantIndex: number): string {
  return panFrom(PAN_PREFIX + String(merchantIndex).padStart(3, '0'));
}

const CUSTOMER = {
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_phone: '+491234567',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};

export function withCard(number: string): Fields {
  return {
    card_number: number,
    card_exp_month: '12',
    card_exp_year: '2030',
    cvv: CVV,
    card_holder: 'Ann Lee',
    ...CUSTOMER,
  };
}

export function withToken(token: string): Fields {
  return { token, card_holder: 'Ann Lee', ...CUSTOMER };
}

export const xts = (amount: string): Fields => ({ amount, currency: 'XTS' });

export function payoutFields(amount: string, callbackUrl: string): Fields {
  return {
    method: 'init',
    type: 'sepa',
    ...xts(amount),
    callback_url: callbackUrl,
    receiver_iban: 'DE89370400440532013000',
    receiver_name: 'Jo Miller',
    transfer_description: 'Invoice 17',
    receiver_city: 'Berlin',
    receiver_country: 'DEU',
  };
}
