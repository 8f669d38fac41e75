import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ENVELOPE } from './card-use-cases';
import type { Send, UseCase } from './load';

const POLL_MS = 100;
const DRAIN_TIMEOUT_MS = 120_000;
/** The last inits of a load, whose outcomes are awaited: they are spread over all partitions. */
const LAST = 64;

export const PAYOUT = {
  method: 'init',
  amount: '10.00',
  currency: 'XTS',
  // A private address is refused before a connection, so no server is needed.
  callback_url: 'https://10.0.0.1/callback',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 2026-17',
  receiver_city: 'Berlin',
  receiver_country: 'DEU',
};

/** An init is answered as soon as it is journalled, so the payouts of one load must end before the next one begins. */
export function payoutUseCases(): UseCase[] {
  const last: string[] = [];
  return [
    {
      name: 'payout init',
      requestsPerRound: 1,
      async round(send) {
        const id = randomUUID();
        const response = await send('/api/mp/payout', { ...ENVELOPE, ...PAYOUT, transaction_unique_id: id });
        if (response['status'] !== 'pending') throw new Error(`not taken: ${JSON.stringify(response)}`);
        last.push(id);
        if (last.length > LAST) last.shift();
      },
      async drained(send) {
        for (const id of last.splice(0)) await ended(send, id);
      },
    },
  ];
}

async function ended(send: Send, id: string): Promise<void> {
  const giveUpAt = performance.now() + DRAIN_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    const { transactions } = await send('/api/mp/transaction', {
      ...ENVELOPE,
      transaction_type: 'CHECK',
      transaction_unique_id: id,
    });
    const [record] = transactions as { status: string }[];
    if (record?.status === 'SUCCESS') return;
    await pause(POLL_MS);
  }
  throw new Error(`payout ${id} has not ended`);
}
