import type { AnnounceOutcomeData } from '@gateway/contracts';
import { untilWritten } from '@gateway/service-kit';
import { decideAnnouncement } from '../domain/decide-announcement';
import { findOperation } from '../domain/payment';
import type { Ports } from './ports';
import { record } from './record';
import { loadRecords } from './record-refusal';

/** Has the end of an operation told by a callback: with its event when it is still to come, else with one of its own. */
export async function announceOutcome(ports: Ports, data: AnnounceOutcomeData, causationId: string): Promise<void> {
  const { reference, merchantAccount } = data;
  const payment = await untilWritten(async () => {
    const records = await loadRecords(ports, { data });
    const stored = records.find((candidate) => candidate !== null && findOperation(candidate, reference) !== undefined);
    if (stored?.merchantAccount !== merchantAccount) return 'unknown';
    const decided = decideAnnouncement(stored, data);
    if (decided.length === 0) return stored;
    return record(ports, { id: stored._id, merchantAccount, stored }, decided, {}, causationId);
  });
  if (payment === 'unknown') ports.logger.warn('an outcome of no operation cannot be announced', { reference });
  else ports.publishEvents(payment);
}
