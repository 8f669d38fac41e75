import type { AnswerValues } from '@gateway/contracts';
import { renderAnswer } from '@gateway/contracts';
import { laneOf } from './lane';

/** Where an outcome comes from: it decides on the secret, on what acknowledges it, and on how a status is spelled. */
export type CallbackKind = 'card' | 'payout';

/** Name and value as they are before URL encoding. */
export type Field = readonly [name: string, value: string];

/** A final outcome as it was committed. */
export interface Outcome extends AnswerValues {
  kind: CallbackKind;
  paymentId: string;
  reference: string;
  merchantAccount: string;
  transactionUniqueId: string;
  /** success, decline, error; of payouts success, declined, error, frauded. In any case. */
  status: string;
  callbackUrl: string;
}

/** What is sent, frozen when the outcome arrived. */
export interface Callback {
  kind: CallbackKind;
  paymentId: string;
  reference: string;
  merchantAccount: string;
  transactionUniqueId: string;
  url: string;
  /** Scheme, host and port of `url`: all that logs and events say of it. */
  origin: string;
  /** Merchant and origin: see {@link laneOf}. */
  lane: string;
  /** In the order in which they are sent; without `checkSum`, which each attempt makes with the secret of its day. */
  fields: readonly Field[];
}

/**
 * interface.md, "Callback record" and "Events". Custom parameters follow in their order. Throws on a URL that is none:
 * the edge has checked it.
 */
export function callbackOf(outcome: Outcome, custom: readonly Field[]): Callback {
  const { kind, paymentId, reference, merchantAccount, transactionUniqueId, callbackUrl } = outcome;
  const { origin } = new URL(callbackUrl);
  const status = kind === 'payout' ? outcome.status.toUpperCase() : outcome.status;
  const answer = Object.entries(renderAnswer('callback', { ...outcome, status }));
  return {
    kind,
    paymentId,
    reference,
    merchantAccount,
    transactionUniqueId,
    url: callbackUrl,
    origin,
    lane: laneOf(merchantAccount, origin),
    fields: [...answer.map(([name, value]) => [name, String(value)] as const), ...custom],
  };
}

/** interface.md, "Authentication", 2: what is hashed, before the secret is appended. */
export function signedText(fields: readonly Field[]): string {
  return [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('|');
}

const HTTP_OK = 200;

/** decisions.md, section 6. An answer that was too long to be read whole is not `OK`, whatever it begins with. */
export function isAcknowledgement(
  kind: CallbackKind,
  answer: { httpStatus?: number; body?: string; truncated?: boolean },
): boolean {
  if (answer.httpStatus !== HTTP_OK) return false;
  switch (kind) {
    case 'payout':
      return true;
    case 'card':
      return answer.truncated !== true && answer.body?.trim() === 'OK';
  }
}
