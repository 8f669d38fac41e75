import { decide } from '../domain/decide';
import { endedWithoutSuccess } from '../domain/payout';
import type { Ports, ReceivedCommand, StoredPayout } from './ports';
import { record } from './record';
import { LEASE_MARGIN_MS, submitPayout } from './submit-payout';

/**
 * One payout, start to end: screen, decide, store the intent, tell the bank, store what it said, publish. Run again with
 * the same command it has no second effect: one that is on record is never submitted from here, it is the resolver's.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { reference } = received.request;
  const known = await ports.payouts.load(reference);
  const begun = known === null ? await begin(ports, received) : undefined;
  if (begun === undefined) return leave(ports, known ?? (await ports.payouts.load(reference)));
  const finished = begun.state.kind === 'submitting' ? await submitPayout(ports, begun, received.id) : begun;
  ports.publishEvents(finished);
}

/** Undefined when it is on record already. Only who gets the payout back tells the bank. */
async function begin(ports: Ports, { request, id }: ReceivedCommand): Promise<StoredPayout | undefined> {
  const bank = ports.bankFor(request.currency);
  const screening = await ports.screening.screen({
    reference: request.reference,
    merchantAccount: request.merchantAccount,
    amountE4: request.amountE4,
    currency: request.currency,
    iban: request.instruction?.receiver.iban ?? '',
    token: request.token,
    acceptedAt: request.acceptedAt,
  });
  const resolveAt = ports.now() + (ports.bank(bank)?.callTimeoutMs ?? 0) + LEASE_MARGIN_MS;
  return record(ports, undefined, decide(request, { screening, bank }), { resolveAt }, id);
}

/** Another run of the same command may have screened it after its reservations were released. */
async function leave(ports: Ports, payout: StoredPayout | null): Promise<void> {
  if (payout === null) return;
  if (endedWithoutSuccess(payout.state)) await ports.screening.release(payout.reference);
  ports.publishEvents(payout);
}
