import { setTimeout as pause } from 'node:timers/promises';
import type { CallbackEventPage } from '@gateway/contracts';
import type { Slot } from '@gateway/service-kit';
import type { CallbackEventsRequest } from '../domain/callback-request';
import type { Incoming } from './admit';
import { eventsResponse, unknownCursor } from './callback-responses';
import { callbackEventsEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import type { Account, CallbackPorts, FeedStart, Ports } from './ports';
import type { Answer } from './responses';
import { noAnswer, tooManyRequests } from './responses';

const SECOND_MS = 1_000;
/** Between two looks; each is twice as long as the one before. */
const PAUSE_MIN_MS = 125;
const PAUSE_MAX_MS = 1_000;
const TOO_MANY_POLLS = { reason: 'too-many-at-once', retryAfterSeconds: 1 } as const;

export type CallbackEventsPorts = Ports & CallbackPorts;

/**
 * `POST /api/pf/callbacks/events`: the next callbacks of a sandbox account, for `gateway listen`. If there are none, it
 * waits for one. Meanwhile it holds one of the account's few places for that, and no slot of its other requests.
 */
export function handleCallbackEvents(ports: CallbackEventsPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, callbackEventsEndpoint, {
    checkRules: () => undefined,
    carryOut: async (session, account, request, _idempotencies, slot) => {
      try {
        const found = await next(ports, incoming, account, request, slot);
        if (found === 'share') return tooManyRequests(session, ports.now(), TOO_MANY_POLLS);
        return found === undefined ? unknownCursor(session, ports.now()) : eventsResponse(session, found);
      } catch (error) {
        ports.logger.warn('a query for callback events got no answer from the owner', { error });
        return noAnswer(session, ports.now());
      }
    },
  });
}

/** `share`: the account has no place left. */
async function next(
  ports: CallbackEventsPorts,
  incoming: Incoming,
  account: Account,
  { start, waitSeconds, limit }: CallbackEventsRequest,
  slot: Slot,
): Promise<CallbackEventPage | undefined | 'share'> {
  const look = (from: FeedStart | undefined) => ports.callbackQueries.events(account.merchantAccount, from, limit);
  const page = await look(startOf(start));
  if (page === undefined || page.events.length > 0 || start === undefined || waitSeconds === 0) return page;
  const place = await ports.pollPlaces.take(account);
  if (place === 'share') return 'share';
  // Everyone else waits: the client asks again.
  if (place === 'full') return page;
  slot.release();
  try {
    return await lookUntil(ports.now() + waitSeconds * SECOND_MS, { ports, look, page, gone: incoming.gone() });
  } finally {
    place.release();
  }
}

function startOf(start: CallbackEventsRequest['start']): FeedStart | undefined {
  return start !== undefined && 'since' in start ? { since: start.since * SECOND_MS } : start;
}

/** Looks again and again: until there is something, until the deadline (epoch ms), or while anybody waits. */
async function lookUntil(
  deadline: number,
  waiting: {
    ports: Pick<CallbackEventsPorts, 'now' | 'isStopping'>;
    look: (from: FeedStart) => Promise<CallbackEventPage | undefined>;
    page: CallbackEventPage;
    gone: AbortSignal;
  },
): Promise<CallbackEventPage | undefined> {
  const { ports, look, gone } = waiting;
  const isOver = (): boolean => gone.aborted || ports.isStopping();
  let page: CallbackEventPage | undefined = waiting.page;
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    const leftMs = deadline - ports.now();
    if (page === undefined || page.events.length > 0 || leftMs <= 0 || isOver()) return page;
    await pause(Math.min(pauseMs, leftMs), undefined, { signal: gone }).catch(() => undefined);
    if (!isOver()) page = await look({ after: page.cursor });
  }
}
