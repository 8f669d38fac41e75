import type { CardCommand } from '@gateway/contracts';
import { hasRoomForRefusal, refusal } from '../domain/decide';
import type { Rejection } from '../domain/rejections';
import type { Ports, StoredPayment } from './ports';
import { record } from './record';

/** An operation's payment, and the record of its refusal that stands alone, where there is one. */
export function loadRecords(
  ports: Pick<Ports, 'payments'>,
  { data }: { data: Pick<CardCommand['data'], 'paymentId' | 'reference'> },
): Promise<[StoredPayment | null, StoredPayment | null]> {
  return Promise.all([ports.payments.load(data.paymentId), ports.payments.load(data.reference)]);
}

/**
 * Records a refusal with its payment or, where that has no room or is another merchant's (`stored` undefined), as a
 * record of its own under the operation's reference. Undefined when someone else wrote first: load, decide again.
 */
export function recordRefusal(
  ports: Ports,
  command: CardCommand,
  stored: StoredPayment | null | undefined,
  rejection: Rejection,
  causationId?: string,
): Promise<StoredPayment | undefined> {
  const { paymentId, reference, merchantAccount } = command.data;
  const withPayment = stored !== undefined && (stored === null || hasRoomForRefusal(stored));
  const target = withPayment
    ? { id: paymentId, merchantAccount, stored }
    : { id: reference, merchantAccount, stored: null };
  return record(ports, target, [refusal(command, rejection)], {}, causationId);
}
