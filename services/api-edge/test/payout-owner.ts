import type { Socket } from 'node:net';
import type { InitiatePayoutData, PayoutOutcome } from '@gateway/contracts';
import { InitiatePayout, messageOfCode } from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { on } from '@gateway/messaging';

/** Plays the payout service: consumes commands and answers queries, as the test says. */
export interface PayoutOwner {
  /** Every command, including repeated ones. */
  readonly commands: InitiatePayoutData[];
  readonly outcomes: Map<string, PayoutOutcome>;
  /** Parameters of all queries for lists. */
  readonly lists: URLSearchParams[];
  /** Lists of these accounts are answered when the promise is fulfilled. */
  readonly held: Map<string, Promise<void>>;
  /** That queries came over. */
  readonly connections: Record<'lists' | 'others', Set<Socket>>;
  /** While true, queries fail. */
  away: boolean;
  /** While false, commands are consumed but not stored. */
  records: boolean;
  readonly handler: MessageHandler;
  /** Stores a payout, or changes the outcome of a stored one. */
  record(reference: string, outcome: Partial<PayoutOutcome>): void;
  /** The answer to a query; undefined if the query is not about payouts. */
  answer(url: string, connection: Socket): Promise<{ status: number; body: unknown } | undefined>;
}

export function createPayoutOwner(): PayoutOwner {
  const owner: PayoutOwner = {
    commands: [],
    outcomes: new Map(),
    lists: [],
    held: new Map(),
    connections: { lists: new Set(), others: new Set() },
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
    async answer(url, connection) {
      const { pathname, searchParams } = new URL(url, 'http://owner');
      const [, kind, reference] = pathname.split('/');
      if (kind !== 'payouts') return undefined;
      if (owner.away) return { status: 500, body: {} };
      owner.connections[reference === undefined ? 'lists' : 'others'].add(connection);
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
      await owner.held.get(account ?? '');
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
