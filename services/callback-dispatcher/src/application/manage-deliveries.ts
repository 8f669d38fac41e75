import { decideResend } from '../domain/delivery';
import type { AttemptRecord } from '../domain/delivery';
import { attemptsOf } from './first-attempt';
import type { DeliveryQuery, Ports, StoredDelivery } from './ports';

type Managing = Pick<Ports, 'deliveries' | 'feed' | 'merchants' | 'handle' | 'now' | 'newId' | 'logger'>;

export function listDeliveries(ports: Pick<Ports, 'deliveries'>, query: DeliveryQuery): Promise<StoredDelivery[]> {
  return ports.deliveries.list(query);
}

/** Undefined for an unknown id. */
export async function showDelivery(
  ports: Pick<Ports, 'deliveries' | 'attempts'>,
  id: string,
): Promise<{ delivery: StoredDelivery; attempts: AttemptRecord[] } | undefined> {
  const delivery = await ports.deliveries.load(id);
  return delivery === null ? undefined : { delivery, attempts: await attemptsOf(ports, delivery) };
}

/**
 * Makes a delivery due now in any state: its schedule begins again, and whoever follows the account's callbacks gets it
 * once more. Undefined for an unknown id.
 *
 * @param by who asked for it, for the log
 */
export async function resendDelivery(
  ports: Managing,
  id: string,
  by: 'an operator' | 'the merchant',
): Promise<StoredDelivery | undefined> {
  const { written, stored, before } = await ports.handle(id, (known) =>
    known === null ? [] : decideResend(ports.now()),
  );
  if (!written) return undefined;
  ports.logger.info(`${by} sends a callback again`, { deliveryId: id, was: before?.progress.state });
  const { merchantAccount } = stored;
  if ((await ports.merchants.find(merchantAccount))?.isSandbox === true) {
    await ports.feed.append({ id: ports.newId(), merchantAccount, deliveryId: id });
  }
  return stored;
}
