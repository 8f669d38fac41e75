import type { AccountAdministration } from '@gateway/accounts';
import { SANDBOX_PAYOUTS } from '@gateway/accounts';
import { parseAmountE4, Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Body, CheckRecord, System } from './system';
import { CREDENTIALS, recordsOf, uniqueId } from './system';

export const PAYOUT_PATH = '/api/mp/payout';
export const STATUS_PATH = '/api/mp/transaction';
export const QUERY_PATH = '/api/mp/transactions';

export const IBAN = 'DE89370400440532013000';

export function payout(more: Body = {}): Body {
  return {
    ...CREDENTIALS,
    method: 'init',
    transaction_unique_id: uniqueId(),
    amount: '10.00',
    currency: 'XTS',
    callback_url: 'https://localhost:65535/callback',
    type: 'sepa',
    receiver_iban: IBAN,
    receiver_name: 'Jörg Müller',
    transfer_description: 'Invoice 2026-17',
    receiver_city: 'Köln',
    receiver_country: 'DEU',
    ...more,
  };
}

/** A live account that pays EUR from one of our accounts. */
export async function openPayingAccount(
  administration: Pick<AccountAdministration, 'create' | 'changeState'>,
  account: { name: string; password: string; debtor: string; dailyEuros: string },
): Promise<void> {
  const daily = { kind: 'daily-amount', currency: 'EUR', maxE4: parseAmountE4(account.dailyEuros) ?? 0 } as const;
  await administration.create({
    merchantAccount: account.name,
    password: new Secret(account.password),
    payoutSecret: new Secret('file_payout_secret'),
    settings: {
      ...SANDBOX_PAYOUTS,
      payoutRules: [...SANDBOX_PAYOUTS.payoutRules, daily],
      payoutDebtor: account.debtor,
    },
  });
  await administration.changeState(account.name, 'activate');
}

/** Answers of the payout family to one merchant. */
export interface PayoutClient {
  /** Sends a payout that must be accepted, and returns its answer. */
  pay(more?: Body): Promise<Body>;
  check(by: Body): Promise<Body>;
  query(more?: Body, path?: string): Promise<Body>;
  /** The record of CHECK once it is final. */
  ended(by: Body): Promise<CheckRecord>;
}

export function payoutClient(system: System, credentials: Body = {}): PayoutClient {
  async function post(path: string, fields: Body): Promise<Body> {
    const { status, data } = await system.http.post<Body>(path, { ...CREDENTIALS, ...fields, ...credentials });
    expect(status).toBe(200);
    return data;
  }
  const check = (by: Body) => post(STATUS_PATH, { transaction_type: 'CHECK', ...by });
  return {
    async pay(more = {}) {
      const answer = await post(PAYOUT_PATH, payout(more));
      expect(answer).toMatchObject({ status: 'pending', code: 0 });
      expect(answer['reference']).toMatch(/^[0-9A-Z]{20}$/);
      return answer;
    },
    check,
    query: (more = {}, path = QUERY_PATH) =>
      post(path, { qod_type: 'transactions', time_from: 0, time_to: 4_102_444_800, ...more }),
    ended: (by) =>
      until(
        `the end of ${JSON.stringify(by)}`,
        async () => {
          const data = await check(by);
          expect(data).toMatchObject({ status: 'success', code: 0 });
          const [record] = recordsOf(data);
          return record === undefined || record.status === 'PENDING' ? undefined : record;
        },
        60_000,
      ),
  };
}
