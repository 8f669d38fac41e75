import type { InitiatePayoutData, PayoutOutcome } from '@gateway/contracts';
import { InitiatePayout, messageOfCode } from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { on } from '@gateway/messaging';

/** In the payout service's place: takes commands and answers queries, as the test says. */
export interface PayoutOwner {
  /** Every command that came, again and again when it came so. */
  readonly commands: InitiatePayoutData[];
  readonly outcomes: Map<string, PayoutOutcome>;
  /** The questions for lists that were asked. */
  readonly lists: URLSearchParams[];
  /** Answers no query while it is true. */
  away: boolean;
  /** While it is false, commands are read, and nothing comes on record. */
  records: boolean;
  readonly handler: MessageHandler;
  /** Puts a payout on record, or another outcome of one that is. */
  record(reference: string, outcome: Partial<PayoutOutcome>): void;
  /** What it answers to a query; undefined for what is no question about payouts. */
  answer(url: string): { status: number; body: unknown } | undefined;
}

export function createPayoutOwner(): PayoutOwner {
  const owner: PayoutOwner = {
    commands: [],
    outcomes: new Map(),
    lists: [],
    away: false,
    records: true,
    handler: on(InitiatePayout, async ({ data }) => {
      owner.commands.push(data);
      if (owner.records && !owner.outcomes.has(data.reference)) owner.outcomes.set(data.reference, accepted(data));
    }),
    record(reference, outcome) {
      const known = owner.outcomes.get(reference);
      owner.outcomes.set(reference, { ...known, ...outcome } as PayoutOutcome);
    },
    answer(url) {
      const { pathname, searchParams } = new URL(url, 'http://owner');
      const [, kind, reference] = pathname.split('/');
      if (kind !== 'payouts') return undefined;
      if (owner.away) return { status: 500, body: {} };
      if (reference === 'on-record') {
        const asked = searchParams.get('reference')?.split(',') ?? [];
        return { status: 200, body: { references: asked.filter((one) => owner.outcomes.has(one)) } };
      }
      const account = searchParams.get('account');
      if (reference !== undefined) {
        const found = owner.outcomes.get(reference);
        return found?.merchantAccount === account ? { status: 200, body: found } : { status: 404, body: {} };
      }
      owner.lists.push(searchParams);
      return {
        status: 200,
        body: { payouts: [...owner.outcomes.values()].filter(({ merchantAccount }) => merchantAccount === account) },
      };
    },
  };
  return owner;
}

function accepted(data: InitiatePayoutData): PayoutOutcome {
  const { payoutId, reference, merchantAccount, transactionUniqueId, amountE4, feeE4, currency, token } = data;
  return {
    ...{ payoutId, reference, merchantAccount, transactionUniqueId, amountE4, feeE4, currency, token },
    ...{ status: 'pending', code: 11, message: messageOfCode(11), timestamp: data.acceptedAt },
  };
}
