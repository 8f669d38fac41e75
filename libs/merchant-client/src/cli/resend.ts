import type { Send } from '../send';
import { RESPONSE_CODES } from '../codes';
import type { CallbackRecord } from './events';
import { CALLBACKS_PATH, lineOf } from './events';
import { askOnce, GatewayError, recordsOf, requireSuccess } from './gateway';
import type { Terminal } from './terminal';

/** Sends a callback again, to its address and to whoever listens. */
export async function resend({
  callbackId,
  send,
  terminal,
}: {
  callbackId: string;
  send: Send;
  terminal: Terminal;
}): Promise<void> {
  const answer = await askOnce(send, { path: `${CALLBACKS_PATH}/resend`, fields: { callback_id: callbackId } });
  if (answer.code === RESPONSE_CODES.TRANSACTION_NOT_FOUND) {
    throw new GatewayError(`The account has no callback "${callbackId}"; "gateway events" lists them.`);
  }
  for (const record of recordsOf<CallbackRecord>(requireSuccess(answer), 'callbacks')) terminal.print(lineOf(record));
}
