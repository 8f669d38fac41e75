import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../answers';
import { recordsIn, textIn } from '../answers';
import { CALLBACKS_PATH } from '../callback-list';
import { RESPONSE_CODES } from '../codes';
import type { Send } from '../send';
import { timeOf, unixSeconds } from './events';
import type { CallbackEvent, Forwarder } from './forward';
import { createForwarder } from './forward';
import { GatewayError, reasonOf, requireSuccess } from './gateway';
import type { Position, PositionFile } from './position-file';
import { defaultPositionPath, openPositionFile } from './position-file';
import type { Terminal } from './terminal';

const WAIT_SECONDS = 20;
/** The wait, and some time for the answer. */
const TIMEOUT_MS = 30_000;
const PAGE_LIMIT = 20;
/** Shops refuse a callback that was signed five minutes ago. */
const FRESH_MS = 120_000;
/** After a poll that came back empty too soon: too many others wait at the gateway. */
const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 10_000;
/** However long the gateway asks to wait. */
const RETRY_AFTER_MAX_MS = 60_000;

export interface ListenOptions {
  target: URL;
  /** Begin that long ago instead of at the saved position. */
  agoSeconds?: number;
  positionFile?: string;
  url: string;
  account: string;
  send: Send;
  terminal: Terminal;
}

/** After a cursor, at a time, or (neither) from now on. */
type Start = { cursor: string } | { since: number } | Record<string, never>;

/**
 * Forwards callbacks one after the other, forever. Saves its position after each one, so that a listener that was killed
 * continues there: each callback is forwarded at least once, and those of a payment in order.
 *
 * @throws GatewayError if the gateway refuses, and would refuse again
 */
export async function listen(options: ListenOptions): Promise<void> {
  const { target, agoSeconds, url, account, terminal } = options;
  const file = openPositionFile(options.positionFile ?? defaultPositionPath(process.env, url, account, target.href));
  const saved = agoSeconds === undefined ? file.read() : undefined;
  const since = agoSeconds === undefined ? undefined : unixSeconds() - agoSeconds;
  const forwarder = createForwarder(target, terminal);
  let at = saved?.at ?? since ?? unixSeconds();
  let start: Start = saved === undefined ? (since === undefined ? {} : { since }) : { cursor: saved.cursor };
  greet(options, file, saved, since);
  try {
    for (;;) {
      const page = await pageFrom(options, start);
      if (page === undefined) {
        terminal.warn(`${url} does not know the saved position. Continuing at ${timeOf(at)}.`);
        start = { since: at };
        continue;
      }
      const reached = await forwardAll(page, at, { forwarder, file });
      if (reached === undefined) continue;
      start = { cursor: reached.cursor };
      at = reached.at;
    }
  } finally {
    forwarder.close();
  }
}

/** Forwards a page, or as much of it as is fresh. Returns the new position, which is saved; undefined if there is none. */
async function forwardAll(
  page: Page,
  at: number,
  { forwarder, file }: { forwarder: Forwarder; file: PositionFile },
): Promise<Position | undefined> {
  const freshUntil = Date.now() + FRESH_MS;
  let reached: Position | undefined;
  for (const event of page.events) {
    if (!(await forwarder.forward(event, freshUntil))) return reached;
    reached = { cursor: event.cursor, at: event.timestamp };
    file.save(reached);
  }
  reached = { cursor: page.cursor, at: reached?.at ?? at };
  file.save(reached);
  return reached;
}

function greet(
  { target, url, account, terminal }: ListenOptions,
  { path }: PositionFile,
  saved: Position | undefined,
  since: number | undefined,
): void {
  const from = since ?? saved?.at;
  const begin = from === undefined ? 'from now on' : `since ${timeOf(from)}`;
  terminal.print(`Forwarding the callbacks of ${account} at ${url} to ${target.href}, ${begin}`);
  terminal.print(`The position is saved in ${path}`);
}

interface Page {
  events: CallbackEvent[];
  cursor: string;
}

/** The next callbacks; asks until there is an answer. Undefined if the gateway does not know the cursor. */
async function pageFrom({ url, send, terminal }: ListenOptions, start: Start): Promise<Page | undefined> {
  const isFirst = !('cursor' in start) && !('since' in start);
  const fields = { ...start, wait: WAIT_SECONDS, limit: PAGE_LIMIT };
  for (let failures = 0; ;) {
    const askedAt = Date.now();
    const reading = await send({ path: `${CALLBACKS_PATH}/events`, fields }, TIMEOUT_MS);
    if (reading.kind === 'answer' && reading.answer.code !== RESPONSE_CODES.SERVICE_UNAVAILABLE) {
      if ('cursor' in start && isAboutCursor(reading.answer)) return undefined;
      const page = pageIn(requireSuccess(reading.answer));
      if (page.events.length > 0 || isFirst) return page;
      if (Date.now() - askedAt < PAUSE_MS) await pause(PAUSE_MS);
      return page;
    }
    const reason = reading.kind === 'answer' ? reading.answer.message : reasonOf(reading);
    if (failures === 0) terminal.warn(`${url} does not answer (${reason}). Trying until it does.`);
    failures += 1;
    const retryAfterMs = reading.kind === 'refused' ? reading.retryAfterMs : 0;
    const ownMs = Math.min(failures * PAUSE_MS, PAUSE_MAX_MS);
    await pause(Math.max(ownMs, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS)));
  }
}

function pageIn(answer: Answer): Page {
  const events = recordsIn<CallbackEvent>(answer, 'events');
  const cursor = textIn(answer, 'cursor');
  if (cursor === undefined || !events.every(isEvent)) throw new GatewayError('The gateway answers something else.');
  return { events, cursor };
}

const EVENT_TEXTS = ['callback_id', 'type', 'reference', 'transaction_unique_id', 'body', 'cursor'];

function isEvent(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const { timestamp, headers, ...others } = event as Record<string, unknown>;
  const isWhole = EVENT_TEXTS.every((name) => typeof others[name] === 'string');
  return isWhole && typeof timestamp === 'number' && typeof headers === 'object' && headers !== null;
}

function isAboutCursor(answer: Answer): boolean {
  const [first] = recordsIn<{ field: string }>(answer, 'errors');
  return answer.code === RESPONSE_CODES.FIELD_INVALID && first?.field === 'cursor';
}
