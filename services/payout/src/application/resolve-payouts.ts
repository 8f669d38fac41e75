import { createResolver as createDueResolver, INQUIRIES_BEFORE_ALARM, inquiryDelayMs } from '@gateway/mongo';
import type { FairWork } from '@gateway/service-kit';
import { inTrace } from '@gateway/service-kit';
import type { BankConnector, Cancellation, Inquiry, SubmitAnswer } from './bank-ports';
import { decideCancelled, decideRelease, decideTurn, SUBMITTED_INQUIRY_EVERY_MS } from '../domain/decide';
import { endedWithoutSuccess, isOpen } from '../domain/payout';
import type { Ports, StoredPayout } from './ports';
import { screenedPayoutOf } from './screened-payout';
import { recordAnswer, recordDecision, submissionTo, submit, submitPayout } from './submit-payout';

/**
 * Resolves payouts that are due: submits those whose turn has come, finds the outcome of submissions that got no answer
 * or whose process died, and releases the reservations of payouts that ended without success.
 *
 * @param options.atOnce concurrent payouts, at most half of them of one account
 */
export function createResolver(ports: Ports, options: { everyMs: number; atOnce: number }): FairWork {
  return createDueResolver({
    name: 'resolving payouts',
    everyMs: options.everyMs,
    due: ports.payouts.due,
    leaseMs: ports.claimMs,
    correlationId: ({ payoutId }) => payoutId,
    resolve: (payout) => resolve(ports, payout),
    parallel: options.atOnce,
    parallelPerAccount: Math.max(1, Math.floor(options.atOnce / 2)),
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
  });
}

/** Resolves one payout now, for an operator. Undefined if nothing is left to do for it. */
export async function resolveNow(ports: Ports, reference: string): Promise<StoredPayout | 'not-connected' | undefined> {
  const payout = await ports.payouts.due.claimNow(reference, ports.claimMs);
  if (payout === null) return undefined;
  if (isOpen(payout.state) && bankOf(ports, payout) === undefined) return 'not-connected';
  const trace = {
    name: 'resolve a payout for an operator',
    correlationId: payout.payoutId,
    parent: payout.traceparent,
  };
  await inTrace(ports.tracer, trace, () => resolve(ports, payout));
  return (await ports.payouts.load(reference)) ?? undefined;
}

async function resolve(ports: Ports, payout: StoredPayout): Promise<void> {
  if (payout.state.kind === 'screened') await takeTurn(ports, payout);
  else if (isOpen(payout.state)) await learnOutcome(ports, payout);
  else await release(ports, payout);
}

/**
 * Applies the account's rules about receivers again, which may have changed while the payout waited, and stores the
 * intent, then submits. If another process wrote in the meantime, that one does.
 */
async function takeTurn(ports: Ports, payout: StoredPayout): Promise<void> {
  const bank = ports.bankFor(payout.currency);
  // An intent would bind it to a bank that is not there. It is due again when its claim runs out.
  if (ports.bank(bank) === undefined) return reportNotConnected(ports, bank);
  const screening = await ports.screening.screenAgain(screenedPayoutOf(payout));
  const submission = submissionTo(ports, bank);
  const { written, stored } = await ports.handle(payout, (current) =>
    decideTurn(current, { now: ports.now(), screening, submission }),
  );
  if (written && stored.state.kind === 'submitting') await submitPayout(ports, stored);
}

async function release(ports: Ports, payout: StoredPayout): Promise<void> {
  if (endedWithoutSuccess(payout.state)) await ports.screening.release(payout.reference);
  await ports.handle(payout, decideRelease);
}

async function learnOutcome(ports: Ports, payout: StoredPayout): Promise<void> {
  const bank = bankOf(ports, payout);
  if (bank === undefined) reportNotConnected(ports, payout.bank);
  const answer = bank && (await find(ports, bank, payout));
  if (answer === undefined || answer.kind === 'not-sent') return postpone(ports, payout);
  // Another process may be about to send it, so it must not become one that can be called off.
  if (answer.kind === 'withheld') return postpone(ports, payout, 'withheld');
  if (answer.kind === 'submitted' && payout.state.kind === 'submitted') return postpone(ports, payout);
  if (answer.kind === 'cancelled') return recordDecision(ports, payout, decideCancelled);
  return recordAnswer(ports, payout, answer);
}

function reportNotConnected({ logger }: Ports, bank: string | undefined): void {
  logger.error('no connector of this name is open', { bank });
}

function bankOf(ports: Ports, payout: StoredPayout): BankConnector | undefined {
  return ports.bank(payout.bank ?? ports.bankFor(payout.currency));
}

/** Undefined while unknown. */
async function find(
  ports: Ports,
  bank: BankConnector,
  payout: StoredPayout,
): Promise<SubmitAnswer | { kind: 'cancelled' } | undefined> {
  const inquiry = await bank.inquire(payout.reference, payout.merchantAccount);
  if (inquiry.kind !== 'not-found') return unlessUnknown(inquiry);
  switch (payout.state.kind) {
    case 'submitting':
      // The bank was away, or our process died first. If the bank gets it twice, the reference makes it one payout.
      return submit(ports, bank, payout);
    case 'unknown':
      // Final only if the bank confirms that it will never carry it out.
      return bank.cancel === undefined
        ? undefined
        : unlessUnknown(await bank.cancel(payout.reference, payout.merchantAccount));
    default:
      ports.logger.error('a bank does not know a payout that it accepted; ask the bank', {
        reference: payout.reference,
      });
      return undefined;
  }
}

function unlessUnknown<T extends Inquiry | Cancellation>(told: T): Exclude<T, { kind: 'unknown' }> | undefined {
  return told.kind === 'unknown' ? undefined : (told as Exclude<T, { kind: 'unknown' }>);
}

async function postpone(ports: Ports, payout: StoredPayout, why?: 'withheld'): Promise<void> {
  const { reference } = payout;
  const inquiries = (payout.inquiries ?? 0) + 1;
  const isSubmitted = payout.state.kind === 'submitted';
  if (!isSubmitted && why !== 'withheld' && inquiries >= INQUIRIES_BEFORE_ALARM) {
    ports.logger.error('an outcome stays unknown; ask the bank', { reference, inquiries });
  }
  const resolveAt = ports.now() + (isSubmitted ? SUBMITTED_INQUIRY_EVERY_MS : inquiryDelayMs(inquiries));
  // If another process wrote in the meantime, that write says when it is due.
  await ports.handle(payout, ({ version }) =>
    version === payout.version ? [{ type: 'InquiryFailed', resolveAt }] : [],
  );
}
