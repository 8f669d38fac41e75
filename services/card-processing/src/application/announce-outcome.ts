import type { AnnounceOutcomeData } from '@gateway/contracts';
import { untilWritten } from '@gateway/service-kit';
import { decideAnnouncement, lostPage } from '../domain/decide-announcement';
import { findOperation } from '../domain/payment';
import type { Ports } from './ports';
import { record } from './record';
import { loadRecords } from './record-refusal';

/**
 * Makes the outcome of an operation go out by callback: with its final event if that is still to come, otherwise with an
 * event of its own. The operation of a card-entry page that was never opened begins and ends here.
 */
export async function announceOutcome(ports: Ports, data: AnnounceOutcomeData, causationId: string): Promise<void> {
  const { reference, merchantAccount } = data;
  const payment = await untilWritten(async () => {
    const records = await loadRecords(ports, { data });
    const stored = records.find((candidate) => candidate !== null && findOperation(candidate, reference) !== undefined);
    const lost = stored === undefined ? lostPage(data) : [];
    if (lost.length > 0) {
      return record(ports, { id: data.paymentId, merchantAccount, stored: null }, lost, {}, causationId);
    }
    if (stored?.merchantAccount !== merchantAccount) return 'unknown';
    const decided = decideAnnouncement(stored, data);
    if (decided.length === 0) return stored;
    return record(ports, { id: stored._id, merchantAccount, stored }, decided, {}, causationId);
  });
  if (payment === 'unknown') ports.logger.warn('an outcome of no operation cannot be announced', { reference });
  else ports.publishEvents(payment);
}
