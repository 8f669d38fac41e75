import type { Account, ListPlaces, Ports } from './ports';
import type { Answer, Session } from './responses';
import { tooManyRequests, unavailable } from './responses';

const TOO_MANY_LISTS = { reason: 'too-many-at-once', retryAfterSeconds: 1 } as const;

/** Makes a list in one of its places. Without one: 429 if the account's own lists hold them, else 503. */
export async function listInPlace(
  { places, now }: { places: ListPlaces } & Pick<Ports, 'now'>,
  session: Session,
  account: Account,
  list: () => Promise<Answer>,
): Promise<Answer> {
  const place = await places.take(account);
  if (place === 'share') return tooManyRequests(session, now(), TOO_MANY_LISTS);
  if (place === 'full') return unavailable(session, now());
  try {
    return await list();
  } finally {
    place.release();
  }
}
