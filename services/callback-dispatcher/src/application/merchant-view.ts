import type { CallbackEvent, CallbackEventPage, CallbackView } from '@gateway/contracts';
import type { CallbackKind } from '../domain/callback';
import { CALLBACK_HEADERS } from '../domain/callback';
import type { AttemptRecord } from '../domain/delivery';
import { failureOf } from './failed-attempt';
import { attemptsOf } from './first-attempt';
import { resendDelivery } from './manage-deliveries';
import type { DeliveryQuery, FeedPage, FeedPlace, Ports, StoredDelivery } from './ports';
import { signDelivery } from './sign-delivery';

/** Of each callback of a page: those of one whole schedule, and more. */
const ATTEMPTS_SHOWN_MAX = 20;

type Viewing = Pick<Ports, 'deliveries' | 'attempts'>;

/** Of a merchant's own callbacks. */
export type CallbackQuery = Omit<DeliveryQuery, 'state'> & { merchantAccount: string };

/** One page, newest first. */
export async function viewCallbacks(ports: Viewing, query: CallbackQuery): Promise<CallbackView[]> {
  const deliveries = await ports.deliveries.list(query);
  return Promise.all(deliveries.map((delivery) => viewOf(ports, delivery)));
}

/** Undefined if the merchant has no callback of that id. */
export async function resendForMerchant(
  ports: Ports,
  merchantAccount: string,
  id: string,
): Promise<CallbackView | undefined> {
  const known = await ports.deliveries.load(id);
  if (known?.merchantAccount !== merchantAccount) return undefined;
  const resent = await resendDelivery(ports, id, 'the merchant');
  return resent && viewOf(ports, resent);
}

async function viewOf(ports: Viewing, delivery: StoredDelivery): Promise<CallbackView> {
  const { _id: id, kind, reference, transactionUniqueId, url, createdAt, progress } = delivery;
  return {
    id,
    kind,
    reference,
    transactionUniqueId,
    url,
    state: progress.state,
    createdAt,
    ...(progress.state === 'pending' ? { nextAttemptAt: progress.nextAttemptAt } : { endedAt: progress.at }),
    attempts: (await attemptsOf(ports, delivery, ATTEMPTS_SHOWN_MAX)).map((attempt) => attemptView(kind, attempt)),
  };
}

/** Without the dialled address, which the merchant's server knows. */
function attemptView(kind: CallbackKind, attempt: AttemptRecord): CallbackView['attempts'][number] {
  const { startedAt, acknowledged, httpStatus, durationMs } = attempt;
  const { reason: error, bodyStart } = failureOf(kind, attempt);
  return {
    startedAt,
    ...(acknowledged === undefined ? {} : { acknowledged }),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(error === undefined ? {} : { error }),
    ...(bodyStart === undefined ? {} : { bodyStart }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** Where to begin: behind a cursor, at a time (epoch ms), or at the end of the feed. */
export type FeedStart = { after: FeedPlace } | { since: number } | 'end';

/** The next entries of an account's feed. Undefined if the feed does not have the place. */
export async function readFeed(
  ports: Pick<Ports, 'feed' | 'deliveries' | 'merchants' | 'now' | 'logger'>,
  merchantAccount: string,
  start: FeedStart,
  limit: number,
): Promise<CallbackEventPage | undefined> {
  const page = await pageFrom(ports, merchantAccount, start, limit);
  if (page === undefined) return undefined;
  const events = await Promise.all(page.entries.map((entry) => eventOf(ports, entry)));
  return { events: events.filter((event) => event !== undefined), cursor: cursorOf(page.next) };
}

async function pageFrom(
  { feed }: Pick<Ports, 'feed'>,
  merchantAccount: string,
  start: FeedStart,
  limit: number,
): Promise<FeedPage | undefined> {
  if (start === 'end') return { entries: [], next: await feed.end(merchantAccount) };
  if ('since' in start) return feed.since(merchantAccount, start.since, limit);
  return feed.after(merchantAccount, start.after, limit);
}

/** Signed now, so that its time is new however late it is read. Undefined if the delivery was removed. */
async function eventOf(
  ports: Pick<Ports, 'deliveries' | 'merchants' | 'now' | 'logger'>,
  { deliveryId, at, place }: FeedPage['entries'][number],
): Promise<CallbackEvent | undefined> {
  const delivery = await ports.deliveries.load(deliveryId);
  if (delivery === null) return undefined;
  const signed = await signDelivery(ports, delivery);
  if ('problem' in signed) throw new Error(`a callback cannot be shown: ${signed.problem}`);
  const { kind, reference, transactionUniqueId } = delivery;
  return {
    id: deliveryId,
    kind,
    reference,
    transactionUniqueId,
    at,
    cursor: cursorOf(place),
    headers: { ...CALLBACK_HEADERS, ...signed.headers },
    body: signed.body,
  };
}

/** Only the beginning of a feed has no entry before it. */
const CURSOR = /^(?:0|(\d{1,15}):(.{1,64}))$/;

function cursorOf({ seq, id }: FeedPlace): string {
  return id === undefined ? String(seq) : `${seq}:${id}`;
}

/** Undefined if it is none. */
export function placeIn(cursor: string): FeedPlace | undefined {
  const [found, seq = '0', id] = CURSOR.exec(cursor) ?? [];
  if (found === undefined) return undefined;
  return { seq: Number(seq), ...(id === undefined ? {} : { id }) };
}
