/** Why an attempt to deliver a callback was not acknowledged, as merchants read it. */
export const CALLBACK_ERRORS = {
  address_refused: 'callbacks do not go to this address',
  name_not_found: 'the host has no address',
  connection_refused: 'nothing listens there',
  connection_failed: 'the connection failed',
  tls_failed: 'the certificate or its chain is not trusted, or TLS failed',
  timed_out: 'no connection or no complete answer in time',
  not_sent: 'the gateway could not send it',
  redirected: 'the answer is a redirect, which callbacks do not follow',
  wrong_status: 'the status of the answer is not 200',
  body_not_ok: 'the body of the answer is not OK',
  body_too_long: 'the body of the answer is longer than 4 KiB',
  body_unreadable: 'the body of the answer has a Content-Encoding that cannot be read',
  failed: 'another reason',
} as const;

export type CallbackError = keyof typeof CALLBACK_ERRORS;

/** A release that does not know the set may have sent anything. */
export function callbackErrorOf(text: string): CallbackError {
  return Object.hasOwn(CALLBACK_ERRORS, text) ? (text as CallbackError) : 'failed';
}
