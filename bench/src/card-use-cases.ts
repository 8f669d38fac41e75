import { randomUUID } from 'node:crypto';
import { TEST_CARDS } from '@gateway/contracts';
import type { Fields, Send, UseCase } from './load';

export const MERCHANT = 'bench_merchant';
export const PASSWORD = 'bench_password_of_32_characters_';

export const CARD_PATH = '/api/pf/host-to-host';

export const ENVELOPE = { api_version: 1, merchant_account: MERCHANT, merchant_password: PASSWORD };

export const CUSTOMER = {
  card_holder: 'Ann Lee',
  first_name: 'Ann',
  last_name: 'Lee',
  address: '1 Main Street',
  city: 'Berlin',
  zip: '10115',
  country: 'DEU',
  user_phone: '+491234567',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};

export const CARD = { card_number: TEST_CARDS.notEnrolled.visa, card_exp_month: '12', card_exp_year: '2030' };
const MONEY = { amount: '10.00', currency: 'XTS' };

function operation(type: string, fields: Fields): Fields {
  return { ...ENVELOPE, transaction_type: type, transaction_unique_id: randomUUID(), ...fields };
}

async function succeed(send: Send, fields: Fields): Promise<Fields> {
  const response = await send(CARD_PATH, fields);
  if (response['status'] !== 'success') throw new Error(`not a success: ${JSON.stringify(response)}`);
  return response;
}

/** The card's token, which every charge of the run uses. */
export async function tokenize(send: Send): Promise<string> {
  const fields = { ...CARD, card_holder: CUSTOMER.card_holder };
  return String((await succeed(send, operation('TOKENIZE', fields)))['token']);
}

/** A SALE by token, with a new unique id. */
export function saleOf(token: string): { path: string; fields: Fields } {
  return { path: CARD_PATH, fields: operation('SALE', { ...MONEY, ...CUSTOMER, token }) };
}

export function cardUseCases(token: string): UseCase[] {
  const charge = { ...MONEY, ...CUSTOMER, token };
  return [
    {
      name: 'SALE by token',
      requestsPerRound: 1,
      round: async (send) => void (await succeed(send, operation('SALE', charge))),
    },
    {
      name: 'AUTH + SETTLE',
      requestsPerRound: 2,
      async round(send) {
        const { reference } = await succeed(send, operation('AUTH', charge));
        await succeed(send, operation('SETTLE', { ...MONEY, reference }));
      },
    },
  ];
}
