import type { AttemptRecord } from '../domain/delivery';
import type { Ports, StoredDelivery } from './ports';

const ATTEMPTS_LISTED_MAX = 200;

/** True for the replica that inserted the delivery with its first attempt. Whoever claims it later raises the version. */
export function isFirstAttempt({ version, firstAttempt }: StoredDelivery): boolean {
  return version === 1 && firstAttempt !== undefined;
}

/** A delivery's latest attempts, oldest first. @param limit at most, and by default, {@link ATTEMPTS_LISTED_MAX} */
export async function attemptsOf(
  { attempts }: Pick<Ports, 'attempts'>,
  { _id: id, firstAttempt }: StoredDelivery,
  limit = ATTEMPTS_LISTED_MAX,
): Promise<AttemptRecord[]> {
  const others = await attempts.list(id, limit);
  return firstAttempt === undefined ? others : [firstAttempt, ...others].slice(-limit);
}
