import type { LedgerLine } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { Incoming } from './admit';
import { notAllowed } from './choose-operation';
import { ledgerEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import type { CardQueries, PayoutQueries, Ports } from './ports';
import type { Answer, Session } from './responses';
import { noAnswer, notFound, sandboxAnswer } from './responses';

const NO_BANKS = 'Send it to a gateway with simulated banks: this one has none';

/** What the simulated banks did for one operation or payout, oldest first. */
export type SandboxLedger = (reference: string) => Promise<readonly LedgerLine[]>;

export interface LedgerPorts extends Ports {
  queries: CardQueries;
  payoutQueries: PayoutQueries;
  /** Undefined without a simulator. */
  sandboxLedger: SandboxLedger | undefined;
}

/**
 * `POST /api/sandbox/ledger`: what the simulated banks really did for one of the account's own operations or payouts, of
 * live accounts too. The ledger knows no accounts, so the owner of the payment is asked first: others get 3014. Without a
 * simulator 2004.
 */
export function handleLedgerRequest(ports: LedgerPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, ledgerEndpoint, {
    checkRules: () => undefined,
    async carryOut(session, { merchantAccount }, { reference }) {
      const { sandboxLedger, now } = ports;
      if (sandboxLedger === undefined) return notAllowed(session, now(), { whoMay: NO_BANKS });
      try {
        if (!(await isOwn(ports, merchantAccount, reference))) {
          return notFound(session, now(), 'reference');
        }
        const entries = await sandboxLedger(reference);
        return ledgerResponse(session, now(), entries.filter(isInTest));
      } catch (error) {
        ports.logger.warn('the ledger got no answer', { error });
        return noAnswer(session, now());
      }
    },
  });
}

async function isOwn(ports: LedgerPorts, merchantAccount: string, reference: string): Promise<boolean> {
  const operation = await ports.queries.outcome(merchantAccount, reference);
  return (operation ?? (await ports.payoutQueries.outcome(merchantAccount, reference))) !== undefined;
}

/** Of the test currency, and of voids that were declined, which have none. */
const isInTest = ({ currency }: LedgerLine): boolean => currency === TEST_CURRENCY || currency === null;

/** @param now epoch ms */
export function ledgerResponse(session: Session, now: number, entries: readonly LedgerLine[]): Answer {
  return sandboxAnswer(session, now, {
    entries: entries.map(({ at, operation, idempotencyKey, reference, amount, currency, effect }) => ({
      ...{ at, operation, idempotencyKey, reference, amount, currency, effect },
    })),
  });
}
