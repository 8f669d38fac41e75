import { randomUUID } from 'node:crypto';
import { ENVELOPE } from './card-use-cases';
import type { UseCase } from './load';

export const PAYOUT_PATH = '/api/mp/payout';

const PAYOUT = {
  method: 'init',
  amount: '10.00',
  currency: 'XTS',
  callback_url: 'https://127.0.0.1:1/callback',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 2026-17',
  receiver_city: 'Berlin',
  receiver_country: 'DEU',
};

export function payoutUseCases(): UseCase[] {
  return [
    {
      name: 'payout init',
      path: PAYOUT_PATH,
      requestsPerRound: 1,
      async round(send) {
        const response = await send({ ...ENVELOPE, ...PAYOUT, transaction_unique_id: randomUUID() });
        if (response['status'] !== 'pending') throw new Error(`not taken: ${JSON.stringify(response)}`);
      },
    },
  ];
}
