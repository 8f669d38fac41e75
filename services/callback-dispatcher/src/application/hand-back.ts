import type { DeliveryEvent } from '../domain/delivery';
import { isFirstAttempt } from './first-attempt';
import type { Ports, StoredDelivery } from './ports';

/** Releases a delivery that this replica holds to any replica, without an attempt. */
export async function handBack(ports: Pick<Ports, 'handle' | 'now'>, delivery: StoredDelivery): Promise<void> {
  const handedBack: DeliveryEvent = {
    type: 'HandedBack',
    at: ports.now(),
    ...(isFirstAttempt(delivery) && { cancelsFirst: true }),
  };
  // A claim raises the version, so a newer claim by another replica is left alone.
  await ports.handle(delivery, ({ version }) => (version === delivery.version ? [handedBack] : []));
}
