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
