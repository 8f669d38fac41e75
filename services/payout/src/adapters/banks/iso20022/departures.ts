import type { ClientSession, Filter } from '@gateway/mongo';
import { clearanceOf } from '../../../application/clearance';
import type { Accounts } from '../../../application/ports';
import type { Scope } from '../../../domain/holds';
import type { HoldsAdapter } from '../../mongo/holds';
import type { Batch, Member, Records } from './records';

/** Accounts read at the same time. */
const ABREAST = 32;
/** Payouts in files are in this currency. */
const CURRENCY = 'EUR';

/** What must not get into a file now, and the transactions that respect it. */
export interface Departures {
  held(): Promise<readonly Scope[]>;
  /** The accounts of a frozen batch. */
  accountsIn(batch: Batch): Promise<string[]>;
  /** Of these accounts, those whose payouts must wait: suspended, closed, or with payouts turned off. Not from a cache. */
  refusedAccounts(merchantAccounts: readonly string[]): Promise<string[]>;
  /** Matches the members that may leave. */
  free(held: readonly Scope[], refusedAccounts: readonly string[]): Filter<Member>;
  /** Runs `work` in a transaction that each hold comes before or after. */
  depart<T>(work: (held: readonly Scope[], session: ClientSession) => Promise<T>): Promise<T>;
  /** True if a member of the batch is held, or of a refused account. */
  holdsBack(
    batch: Batch,
    held: readonly Scope[],
    refusedAccounts: readonly string[],
    session: ClientSession,
  ): Promise<boolean>;
}

export function createDepartures(options: {
  holds: HoldsAdapter;
  accounts: Pick<Accounts, 'findLatest'>;
  members: Records['members'];
}): Departures {
  const { holds, accounts, members } = options;

  async function isRefused(merchantAccount: string): Promise<boolean> {
    return 'reason' in clearanceOf(await accounts.findLatest(merchantAccount), CURRENCY);
  }

  return {
    async accountsIn({ _id: batch }) {
      const found = await members.distinct('merchantAccount', { batch });
      return found.filter((account) => account !== undefined);
    },
    held: async () => (await holds.read()).map(({ scope }) => scope),
    async refusedAccounts(merchantAccounts) {
      const refused: string[] = [];
      for (let first = 0; first < merchantAccounts.length; first += ABREAST) {
        const some = merchantAccounts.slice(first, first + ABREAST);
        const verdicts = await Promise.all(some.map(isRefused));
        refused.push(...some.filter((_, index) => verdicts[index]));
      }
      return refused;
    },
    free(held, refusedAccounts) {
      if (held.some(({ kind }) => kind === 'all')) return { _id: { $in: [] } };
      const { accounts: heldAccounts, references } = listed(held);
      // One without an account is from an earlier release, and is not known to be free.
      const merchantAccount = { $type: 'string', $nin: [...heldAccounts, ...refusedAccounts] } as const;
      return { merchantAccount, _id: { $nin: references } };
    },
    depart: (work) =>
      holds.departing((held, session) =>
        work(
          held.map(({ scope }) => scope),
          session,
        ),
      ),
    async holdsBack({ _id: batch }, held, refusedAccounts, session) {
      if (held.some(({ kind }) => kind === 'all')) return true;
      const { accounts: heldAccounts, references } = listed(held);
      if (held.length + refusedAccounts.length === 0) return false;
      const either = [
        { merchantAccount: { $in: [...heldAccounts, ...refusedAccounts] } },
        { _id: { $in: references } },
      ];
      return (await members.findOne({ batch, $or: either }, { session })) !== null;
    },
  };
}

function listed(held: readonly Scope[]): { accounts: string[]; references: string[] } {
  return {
    accounts: held.flatMap((scope) => (scope.kind === 'account' ? [scope.merchantAccount] : [])),
    references: held.flatMap((scope) => (scope.kind === 'payout' ? [scope.reference] : [])),
  };
}
