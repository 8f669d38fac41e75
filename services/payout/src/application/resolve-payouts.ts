import type { FairWork } from '@gateway/service-kit';
import { createFairWork, newTraceparent, runWithTrace } from '@gateway/service-kit';
import type { BankConnector, Cancellation, Inquiry, SubmitAnswer } from './bank-ports';
import { decideCancelled, decideTurn } from '../domain/decide';
import { endedWithoutSuccess, isOpen } from '../domain/payout';
import type { Ports, StoredPayout } from './ports';
import { record } from './record';
import {
  leaseMs,
  recordAnswer,
  recordDecision,
  submit,
  SUBMITTED_INQUIRY_EVERY_MS,
  submitPayout,
} from './submit-payout';

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 300_000;
/** Longer than an inquiry and the call after it, each with its time-out, usually take. */
const CLAIM_MS = 25_000;
/** From here on the log calls for an operator each time. */
const INQUIRIES_BEFORE_ALARM = 10;
/**
 * Looks after every payout that is due: submits what waited for its turn, finds out what became of submissions that ended
 * without an answer or whose process died, and gives back what payouts that came to nothing had reserved. Any replica
 * may; one at a time holds the claim. Accounts take turns, so that a bank that is slow about those of one account keeps no
 * other's waiting.
 *
 * @param options.atOnce payouts at once, half of them of one account at most
 */
export function createResolver(ports: Ports, options: { everyMs: number; atOnce: number }): FairWork {
  return createFairWork({
    name: 'looking after payouts',
    everyMs: options.everyMs,
    dueParties: (after, limit) => ports.payouts.accountsWithDue(ports.now(), after, limit),
    claim: (account) => ports.payouts.claimDue(account, CLAIM_MS),
    work: (payout) => resolve(ports, payout),
    onFailure: ({ reference }, error) =>
      ports.logger.warn('a payout could not be looked after; it comes round again', { reference, error }),
    parallel: options.atOnce,
    parallelPerParty: Math.max(1, Math.floor(options.atOnce / 2)),
    logger: ports.logger,
  });
}

/** An operator asks about one payout now. Undefined when nothing is left to do for it. */
export async function resolveNow(ports: Ports, reference: string): Promise<StoredPayout | 'not-connected' | undefined> {
  const payout = await ports.payouts.claim(reference, CLAIM_MS);
  if (payout === null) return undefined;
  if (isOpen(payout.state) && bankOf(ports, payout) === undefined) return 'not-connected';
  await resolve(ports, payout);
  return (await ports.payouts.load(reference)) ?? undefined;
}

function resolve(ports: Ports, payout: StoredPayout): Promise<void> {
  return runWithTrace({ correlationId: payout.payoutId, traceparent: newTraceparent() }, async () => {
    if (payout.state.kind === 'screened') await takeTurn(ports, payout);
    else if (isOpen(payout.state)) await learnOutcome(ports, payout);
    else await release(ports, payout);
  });
}

/** Stores the intent, then tells the bank. When someone else wrote meanwhile, that one does. */
async function takeTurn(ports: Ports, payout: StoredPayout): Promise<void> {
  const bank = ports.bankFor(payout.currency);
  const events = decideTurn(payout, bank);
  const begun = await record(ports, payout, events, { resolveAt: ports.now() + leaseMs(ports, bank) });
  if (begun !== undefined) ports.publishEvents(await submitPayout(ports, begun));
}

function bankOf(ports: Ports, payout: StoredPayout): BankConnector | undefined {
  return ports.bank(payout.bank ?? ports.bankFor(payout.currency));
}

async function release(ports: Ports, payout: StoredPayout): Promise<void> {
  if (endedWithoutSuccess(payout.state)) await ports.screening.release(payout.reference);
  // When someone else wrote meanwhile, it comes round again.
  await record(ports, payout, [], {});
}

async function learnOutcome(ports: Ports, payout: StoredPayout): Promise<void> {
  const bank = bankOf(ports, payout);
  if (bank === undefined) ports.logger.error('no connector of this name is open', { bank: payout.bank });
  const answer = bank && (await find(ports, bank, payout));
  if (answer === undefined || answer.kind === 'not-sent') return postpone(ports, payout);
  if (answer.kind === 'submitted' && payout.state.kind === 'submitted') return postpone(ports, payout);
  const written =
    answer.kind === 'cancelled'
      ? await recordDecision(ports, payout, decideCancelled)
      : await recordAnswer(ports, payout, answer);
  ports.publishEvents(written);
}

/** Undefined: not known yet. */
async function find(
  ports: Ports,
  bank: BankConnector,
  payout: StoredPayout,
): Promise<SubmitAnswer | { kind: 'cancelled' } | undefined> {
  const inquiry = await bank.inquire(payout.reference, payout.merchantAccount);
  if (inquiry.kind !== 'not-found') return unlessUnknown(inquiry);
  switch (payout.state.kind) {
    case 'submitting':
      // The bank was away, or our process died first. Should the bank hear of it twice, the reference makes it one.
      return submit(bank, payout);
    case 'unknown':
      // Final only when the bank confirms that it will never carry it out.
      return bank.cancel === undefined
        ? undefined
        : unlessUnknown(await bank.cancel(payout.reference, payout.merchantAccount));
    default:
      ports.logger.error('a bank has forgotten a payout that it took; ask the bank', { reference: payout.reference });
      return undefined;
  }
}

function unlessUnknown<T extends Inquiry | Cancellation>(told: T): Exclude<T, { kind: 'unknown' }> | undefined {
  return told.kind === 'unknown' ? undefined : (told as Exclude<T, { kind: 'unknown' }>);
}

async function postpone(ports: Ports, payout: StoredPayout): Promise<void> {
  const { reference } = payout;
  const inquiries = (payout.inquiries ?? 0) + 1;
  const isSubmitted = payout.state.kind === 'submitted';
  if (!isSubmitted && inquiries >= INQUIRIES_BEFORE_ALARM) {
    ports.logger.error('an outcome stays unknown; ask the bank', { reference, inquiries });
  }
  const backoffMs = Math.min(BACKOFF_FIRST_MS * 2 ** inquiries, BACKOFF_MAX_MS);
  const resolveAt = ports.now() + (isSubmitted ? SUBMITTED_INQUIRY_EVERY_MS : backoffMs);
  // When someone else wrote meanwhile, that write says when it is due.
  await record(ports, payout, [], { resolveAt, inquiries });
}
