import { setTimeout as pause } from 'node:timers/promises';
import type { Exchange, Reply, Transport } from '../transport';
import { createTransport } from '../transport';
import type { Terminal } from './terminal';

/** As `POST /api/pf/callbacks/events` answers. */
export interface CallbackEvent {
  callback_id: string;
  type: string;
  reference: string;
  transaction_unique_id: string;
  /** Unix seconds. */
  timestamp: number;
  headers: Record<string, string>;
  body: string;
  /** Continues after this event. */
  cursor: string;
}

/** The gateway's own: decisions.md, section 6. */
const TIMEOUT_MS = 15_000;
/** Before the next try after an unacknowledged one: the gateway's first three. */
const RETRY_MS = [1_000, 3_000, 9_000];
/** After no answer at all: the server on this machine is about to start again. */
const NO_ANSWER_PAUSE_MS = 500;
const HTTP_OK = 200;
/** Of an answer that does not acknowledge, in characters. */
const TEXT_SHOWN_MAX = 100;

export interface Forwarder {
  /**
   * Posts an event until the server answers, and a few times more if it does not acknowledge. False if the event has to be
   * read again before the next try, because its signature is too old (`freshUntil`, epoch ms).
   */
  forward(event: CallbackEvent, freshUntil: number): Promise<boolean>;
  close(): void;
}

export function createForwarder(target: URL, { print, warn }: Terminal): Forwarder {
  const transport = createTransport({ baseUrl: target.origin, maxConnections: 1 });

  let isAway = false;

  async function answerTo(event: CallbackEvent, freshUntil: number): Promise<Reply | undefined> {
    while (Date.now() < freshUntil) {
      const exchange = await post(transport, target, event);
      if (exchange.kind === 'answered') {
        isAway = false;
        return exchange.reply;
      }
      if (!isAway) warn(`${target.origin} does not answer (${exchange.reason}). Trying until it does.`);
      isAway = true;
      await pause(NO_ANSWER_PAUSE_MS);
    }
    return undefined;
  }

  return {
    async forward(event, freshUntil) {
      for (const retryMs of [...RETRY_MS, undefined]) {
        const reply = await answerTo(event, freshUntil);
        if (reply === undefined) return false;
        const { status, text } = reply;
        const isDone = isAcknowledgement(event, status, text);
        print(
          `${clock()}  ${shown(event)}  -> ${status}${isDone ? '' : `, not acknowledged: ${whyNot(status, text)}`}`,
        );
        if (isDone) return true;
        if (retryMs !== undefined) await pause(retryMs);
      }
      warn(`${target.href} did not acknowledge it. To send it again: gateway resend ${event.callback_id}`);
      return true;
    },
    close: () => transport.close(),
  };
}

function post(transport: Transport, { pathname, search }: URL, event: CallbackEvent): Promise<Exchange> {
  const path = `${pathname}${search}`;
  return transport.post({ path, body: event.body, headers: callbackHeaders(event), timeoutMs: TIMEOUT_MS });
}

/** Those of callbacks. Others, such as `host`, could take a callback elsewhere than the merchant has named. */
const NAME = /^(content-type|accept-encoding|user-agent|webhook-[a-z]+|gateway-[a-z]+)$/;
const VALUE = /^[\x20-\x7e]*$/;

function callbackHeaders({ headers }: CallbackEvent): Record<string, string> {
  const known = Object.entries(headers).filter(([name, value]) => NAME.test(name) && VALUE.test(value));
  return Object.fromEntries(known);
}

/** interface.md, "Events": card callbacks need the body OK as well. */
function isAcknowledgement({ type }: CallbackEvent, status: number, text: string): boolean {
  return status === HTTP_OK && (type === 'payout' || text.trim() === 'OK');
}

function whyNot(status: number, text: string): string {
  if (status !== HTTP_OK) return 'the status is not 200';
  return `the body is ${JSON.stringify(text.slice(0, TEXT_SHOWN_MAX))}, not OK`;
}

function shown({ callback_id: id, type, reference, transaction_unique_id: uniqueId, body }: CallbackEvent): string {
  const fields = new URLSearchParams(body);
  // A callback about a hold has an event in place of an outcome.
  const what = fields.get('event') ?? `${fields.get('status')} ${fields.get('code')}`;
  return `${id}  ${type}  ${reference}  ${uniqueId}  ${what}`;
}

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}
