import type { AnnounceOutcomeData } from '@gateway/contracts';
import { isTestCurrency, testMark } from '@gateway/contracts';
import { decideAnnouncement, lostPage } from '../domain/decide-announcement';
import { findOperation } from '../domain/payment';
import type { Ports } from './ports';
import { loadRecord } from './record-operation';

/**
 * Reports the end of an operation by callback: with its final event if that is still to come, otherwise with a separate
 * one. The operation of a card-entry page that was never opened begins and ends here.
 */
export async function announceOutcome(ports: Ports, data: AnnounceOutcomeData, causationId: string): Promise<void> {
  const { paymentId, reference, merchantAccount } = data;
  const lost = lostPage(data);
  const mark = testMark(data.lostPage && isTestCurrency(data.lostPage.currency));
  const { rejection } = await ports.handle<'unknown'>(
    paymentId,
    (payment) => {
      if (payment === null && lost.length > 0) return [{ type: 'PaymentOpened', merchantAccount, ...mark }, ...lost];
      return payment?.merchantAccount === merchantAccount && findOperation(payment, reference) !== undefined
        ? decideAnnouncement(payment, data)
        : 'unknown';
    },
    { causationId, load: () => loadRecord(ports, data) },
  );
  if (rejection !== undefined) ports.logger.warn('an outcome to announce belongs to no operation', { reference });
}
