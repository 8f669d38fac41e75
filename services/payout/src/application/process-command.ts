import { decide } from '../domain/decide';
import { endedWithoutSuccess } from '../domain/payout';
import type { Ports, ReceivedCommand } from './ports';
import { screenedPayoutOf } from './screened-payout';
import { submissionTo, submitPayout } from './submit-payout';

/**
 * Screens and decides one payout, and stores the intent if a place among the calls to its bank is free; otherwise the
 * payout waits in the store for its account's turn. The call to the bank runs after the message is done. A repeated
 * command has no effect: the insert finds the payout, and only the writer of the intent submits.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { request, id: causationId } = received;
  if (ports.recovery.mayHaveBeenHandled(request.acceptedAt)) return recordLost(ports, received);
  const { merchantAccount, reference, currency } = request;
  const screening = await ports.screening.screen(screenedPayoutOf(request));
  const bank = ports.bankFor(currency);
  const place = screening.passed ? ports.bank(bank)?.placeForNew(merchantAccount) : undefined;
  const submission = place && submissionTo(ports, bank);
  const { written, stored } = await ports
    .handle(
      reference,
      (known) => (known === null ? decide(request, { now: ports.now(), screening, submission }) : []),
      { expectNew: true, publishLater: place !== undefined, causationId },
    )
    .catch((error: unknown) => {
      place?.leave();
      throw error;
    });
  if (!written) {
    place?.leave();
    // The repeated screening may have reserved again, although the payout has ended.
    if (stored !== null && endedWithoutSuccess(stored.state)) await ports.screening.release(reference);
    return;
  }
  if (place !== undefined) await ports.calls.begin(() => submitPayout(ports, stored, place, causationId));
}

/**
 * The record may be lost of a payout that a bank has. So it is recorded as one whose process died while it submitted it: the
 * resolver inquires about it before anything else, and sends it only if the bank does not know it and no hold is set.
 */
async function recordLost(ports: Ports, { request, id: causationId }: ReceivedCommand): Promise<void> {
  const now = ports.now();
  // Reserves the amount. A refusal says nothing about a payout that the bank may have.
  await ports.screening.screen(screenedPayoutOf(request));
  const submission = { bank: ports.bankFor(request.currency), resolveAt: now };
  await ports.handle(
    request.reference,
    (known) => (known === null ? decide(request, { now, screening: { passed: true }, submission }) : []),
    { expectNew: true, causationId },
  );
}
