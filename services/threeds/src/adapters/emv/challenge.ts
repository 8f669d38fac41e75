import type { RawText } from '@gateway/contracts';
import type { Authentication } from '../../domain/authentication';
import { decoded, encoded, MESSAGE_VERSION, messageFields, transactionId } from './fields';

/** EMVCo: "05", the full window. */
const FULL_WINDOW = '05';
/** A CRes has some 300 characters; extensions may be added. It is read before anything is known about its sender. */
const CRES_LENGTH_MAX = 8_192;

/** The two fields that the browser posts to the ACS. The session data is echoed. */
export function challengeFields({ ids, pageId }: Authentication): { creq: string; threeDSSessionData: string } {
  const creq = encoded({
    messageType: 'CReq',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID: ids.threeDSServerTransId,
    acsTransID: ids.acsTransId,
    challengeWindowSize: FULL_WINDOW,
  });
  return { creq, threeDSSessionData: pageId };
}

/** The transaction of a CRes; undefined if it is invalid. Its other fields are untrusted. */
export function transactionOfCres(
  cres: RawText | undefined,
): { threeDSServerTransId: string; acsTransId: string } | undefined {
  const fields = messageFields(decoded(cres?.within(CRES_LENGTH_MAX) ?? ''), 'CRes');
  const threeDSServerTransId = transactionId(fields?.['threeDSServerTransID']);
  const acsTransId = transactionId(fields?.['acsTransID']);
  return threeDSServerTransId === undefined || acsTransId === undefined
    ? undefined
    : { threeDSServerTransId, acsTransId };
}
