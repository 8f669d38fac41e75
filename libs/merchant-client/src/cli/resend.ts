import { CALLBACKS_PATH, callbacksIn } from '../callback-list';
import { RESPONSE_CODES } from '../codes';
import type { Send } from '../send';
import { lineOf } from './events';
import { askOnce, GatewayError, requireSuccess } from './gateway';
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
  for (const record of callbacksIn(requireSuccess(answer))) terminal.print(lineOf(record));
}
