import { alpha2Of } from '@gateway/contracts';
import { decide } from '../domain/decide';
import { endedWithoutSuccess } from '../domain/payout';
import type { Ports, ReceivedCommand } from './ports';
import type { ScreeningDecision } from './screening-ports';
import { record } from './record';
import { leaseMs, submitPayout } from './submit-payout';

/**
 * One payout: screen, decide, and store the intent if a place among the calls to its bank is free; else it waits in the
 * store for its account's turn. Calling the bank goes on after the message is done. Run again with the same command it
 * has no second effect: the insert finds it on record, screening is asked about the same reference, and nobody but the
 * resolver asks a bank about what began before.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { merchantAccount, reference, currency } = received.request;
  const screening = await screen(ports, received);
  const bank = ports.bankFor(currency);
  const place = screening.passed ? ports.bank(bank)?.placeForNew(merchantAccount) : undefined;
  const events = decide(received.request, { screening, bank: place && bank });
  const resolveAt = ports.now() + (place === undefined ? 0 : leaseMs(ports, bank));
  const stored = await record(ports, undefined, events, { resolveAt }, received.id).catch((error: unknown) => {
    place?.leave();
    throw error;
  });
  if (stored === undefined) {
    place?.leave();
    return leaveAsItIs(ports, reference);
  }
  if (place === undefined) return ports.publishEvents(stored);
  await ports.calls.begin(async () => ports.publishEvents(await submitPayout(ports, stored, place, received.id)));
}

function screen(ports: Ports, { request }: ReceivedCommand): Promise<ScreeningDecision> {
  const { iban = '', address } = request.instruction?.receiver ?? {};
  const addressCountry = alpha2Of(address?.country ?? '');
  return ports.screening.screen({
    reference: request.reference,
    merchantAccount: request.merchantAccount,
    amountE4: request.amountE4,
    currency: request.currency,
    iban,
    ...(addressCountry === undefined ? {} : { addressCountry }),
    token: request.token,
    acceptedAt: request.acceptedAt,
  });
}

/** Screening it again may have reserved again what was released after its end. */
async function leaveAsItIs(ports: Ports, reference: string): Promise<void> {
  const payout = await ports.payouts.load(reference);
  if (payout === null) throw new Error(`broken invariant: payout ${reference} has vanished`);
  if (endedWithoutSuccess(payout.state)) await ports.screening.release(reference);
  ports.publishEvents(payout);
}
