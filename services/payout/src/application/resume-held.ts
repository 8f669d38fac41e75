import { PAYOUT_CURRENCIES } from '@gateway/accounts';
import { inTrace } from '@gateway/service-kit';
import { decideResume } from '../domain/decide';
import { clearanceOf } from './clearance';
import type { Ports, StoredPayout } from './ports';

const ACCOUNTS_AT_ONCE = 500;
const PAYOUTS_AT_ONCE = 500;

/**
 * Gives held payouts their turn again that nothing holds any more: no operator, and not their account. It looks at what
 * is, not at what changed, so a payout that is held while its hold ends does not stay behind. Replicas may do it at the
 * same time.
 */
export async function resumeHeld(ports: Ports, stopping: () => boolean): Promise<void> {
  const scopes = (await ports.holds.read()).map(({ scope }) => scope);
  if (scopes.some(({ kind }) => kind === 'all')) return;
  const heldAccounts = scopes.flatMap((scope) => (scope.kind === 'account' ? [scope.merchantAccount] : []));
  const except = scopes.flatMap((scope) => (scope.kind === 'payout' ? [scope.reference] : []));
  let after = '';
  for (;;) {
    const accounts = await ports.payouts.heldAccounts(after, ACCOUNTS_AT_ONCE);
    for (const merchantAccount of accounts) {
      if (stopping()) return;
      if (!heldAccounts.includes(merchantAccount)) await resumeAccount(ports, merchantAccount, except, stopping);
    }
    if (accounts.length < ACCOUNTS_AT_ONCE) return;
    after = accounts.at(-1) ?? '';
  }
}

async function resumeAccount(
  ports: Ports,
  merchantAccount: string,
  except: readonly string[],
  stopping: () => boolean,
): Promise<void> {
  const account = await ports.accounts.find(merchantAccount);
  for (const currency of PAYOUT_CURRENCIES) {
    if ('reason' in clearanceOf(account, currency)) continue;
    let found: StoredPayout[];
    do {
      if (stopping()) return;
      found = await ports.payouts.held({ merchantAccount, currency, except, limit: PAYOUTS_AT_ONCE });
      await Promise.all(found.map((payout) => resume(ports, payout)));
    } while (found.length === PAYOUTS_AT_ONCE);
  }
}

async function resume(ports: Ports, payout: StoredPayout): Promise<void> {
  const trace = { name: 'resume a held payout', correlationId: payout.payoutId, parent: payout.traceparent };
  await inTrace(ports.tracer, trace, () => ports.handle(payout, (current) => decideResume(current, ports.now())));
}
