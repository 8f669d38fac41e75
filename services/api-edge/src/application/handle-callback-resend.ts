import type { CallbackView } from '@gateway/contracts';
import type { Incoming } from './admit';
import { callbackRecord, callbacksResponse } from './callback-responses';
import { callbackResendEndpoint } from './endpoints';
import type { CallbackListPorts } from './handle-callback-list';
import { handleRequest } from './handle-request';
import type { Answer, Session } from './responses';
import { noAnswer, notFound } from './responses';

/** `POST /api/pf/callbacks/resend`: sends one callback of a sandbox account again, whatever its state. */
export function handleCallbackResend(ports: CallbackListPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, callbackResendEndpoint, {
    checkRules: () => undefined,
    carryOut: (session, { merchantAccount }, { callbackId }) => resend(ports, session, merchantAccount, callbackId),
  });
}

async function resend(
  ports: CallbackListPorts,
  session: Session,
  merchantAccount: string,
  callbackId: string,
): Promise<Answer> {
  let resent: CallbackView | undefined;
  try {
    resent = await ports.callbackQueries.resend(merchantAccount, callbackId);
  } catch (error) {
    ports.logger.warn('a resend got no answer from the owner', { error });
    return noAnswer(session, ports.now());
  }
  return resent === undefined
    ? notFound(session, ports.now(), 'callback_id')
    : callbacksResponse(session, [callbackRecord(resent)]);
}
