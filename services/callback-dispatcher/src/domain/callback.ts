import type { AnswerValues, TestMark } from '@gateway/contracts';
import { renderAnswer, testMark } from '@gateway/contracts';
import { laneOf } from './lane';

/** The origin of an outcome. Determines the secret, the expected acknowledgement and the spelling of the status. */
export const CALLBACK_KINDS = ['card', 'payout'] as const;
export type CallbackKind = (typeof CALLBACK_KINDS)[number];

/** Headers of every callback. The content type: interface.md, "Events". */
export const CALLBACK_HEADERS = {
  'content-type': 'application/x-www-form-urlencoded',
  'accept-encoding': 'identity',
  'user-agent': 'payment-gateway',
} as const;

/** Name and value before URL encoding. */
export type Field = readonly [name: string, value: string];

/** A committed final outcome. */
export interface Outcome extends AnswerValues, TestMark {
  kind: CallbackKind;
  paymentId: string;
  reference: string;
  merchantAccount: string;
  transactionUniqueId: string;
  /** success, decline, error; of payouts success, declined, error, frauded. In any case. */
  status: string;
  callbackUrl: string;
  /** The number of this callback in its payment, from 1. Absent in events of the release before it was counted. */
  sequence?: number | undefined;
  /** If a move of a sandbox account's clock made it happen: how far the clock was ahead when it was due. */
  dueClockMs?: number | undefined;
}

/** The content to send, frozen when the outcome arrived. */
export interface Callback extends TestMark {
  kind: CallbackKind;
  paymentId: string;
  reference: string;
  merchantAccount: string;
  transactionUniqueId: string;
  url: string;
  /** Scheme, host and port of `url`; logs and events contain no more of it. */
  origin: string;
  /** Merchant and origin: see {@link laneOf}. */
  lane: string;
  /** As in {@link Outcome}. */
  sequence?: number;
  /** In sending order, without `checkSum`: each attempt computes it with the current secret. */
  fields: readonly Field[];
}

/**
 * interface.md, "Callback record" and "Events", before {@link withCustom}. Throws for an invalid URL: the edge has checked
 * it.
 */
export function callbackOf(outcome: Outcome): Callback {
  const { kind, paymentId, reference, merchantAccount, transactionUniqueId, callbackUrl, sequence } = outcome;
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
    ...(sequence === undefined ? {} : { sequence }),
    ...testMark(outcome.isTest),
    fields: answer.map(([name, value]) => [name, String(value)] as const),
  };
}

/** Custom parameters follow in their order. */
export function withCustom(callback: Callback, custom: readonly Field[]): Callback {
  return { ...callback, fields: [...callback.fields, ...custom] };
}

/** interface.md, "Authentication", 2: the text to hash, before the secret is appended. */
export function signedText(fields: readonly Field[]): string {
  return [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('|');
}
