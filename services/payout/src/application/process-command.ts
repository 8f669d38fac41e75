import { alpha2Of } from '@gateway/contracts';
import { decide } from '../domain/decide';
import { endedWithoutSuccess } from '../domain/payout';
import type { Ports, ReceivedCommand, StoredPayout } from './ports';
import { record } from './record';
import { LEASE_MARGIN_MS, submitPayout } from './submit-payout';

/**
 * One payout, start to end: screen, decide, store the intent, tell the bank, store what it said, publish. Run again with
 * the same command it has no second effect: the insert finds it on record, screening is asked about the same reference,
 * and nobody but the resolver asks a bank about what began before.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const begun = await begin(ports, received);
  if (begun === undefined) return leaveAsItIs(ports, received.request.reference);
  const finished = begun.state.kind === 'submitting' ? await submitPayout(ports, begun, received.id) : begun;
  ports.publishEvents(finished);
}

/** Undefined when it is on record already. Only who gets the payout back tells the bank. */
async function begin(ports: Ports, { request, id }: ReceivedCommand): Promise<StoredPayout | undefined> {
  const bank = ports.bankFor(request.currency);
  const { iban = '', address } = request.instruction?.receiver ?? {};
  const addressCountry = alpha2Of(address?.country ?? '');
  const screening = await ports.screening.screen({
    reference: request.reference,
    merchantAccount: request.merchantAccount,
    amountE4: request.amountE4,
    currency: request.currency,
    iban,
    ...(addressCountry === undefined ? {} : { addressCountry }),
    token: request.token,
    acceptedAt: request.acceptedAt,
  });
  const resolveAt = ports.now() + (ports.bank(bank)?.callTimeoutMs ?? 0) + LEASE_MARGIN_MS;
  return record(ports, undefined, decide(request, { screening, bank }), { resolveAt }, id);
}

/** Screening it again may have reserved again what was released after its end. */
async function leaveAsItIs(ports: Ports, reference: string): Promise<void> {
  const payout = await ports.payouts.load(reference);
  if (payout === null) throw new Error(`broken invariant: payout ${reference} has vanished`);
  if (endedWithoutSuccess(payout.state)) await ports.screening.release(reference);
  ports.publishEvents(payout);
}
