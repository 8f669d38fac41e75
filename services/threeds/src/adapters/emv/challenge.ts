import type { RawText } from '@gateway/contracts';
import type { Authentication } from '../../domain/authentication';
import type { Fields } from './fields';
import { encoded, MESSAGE_VERSION, parsedJson, transactionId } from './fields';

/** EMVCo: "05", the full window. */
const FULL_WINDOW = '05';
/** A CRes has some 300 characters; the rest is room for message extensions, which are of no use here. */
const CRES_LENGTH_MAX = 32 * 1024;

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

/** Either alphabet of Base64, padding, and what wraps its lines. */
const BASE64 = /^[A-Za-z0-9+/_\-=\s]+$/;

/** What a CRes names; undefined where it does not. */
export interface NamedTransaction {
  threeDSServerTransId?: string;
  acsTransId?: string;
}

/**
 * The transaction that a CRes names, as far as it can be read. It proves nothing, so its type, version and other fields
 * do not matter. ACSs write it in base64url, as EMVCo says, or in standard Base64, with padding and line breaks.
 */
export function transactionOfCres(cres: RawText | undefined): NamedTransaction {
  const text = cres?.within(CRES_LENGTH_MAX);
  if (text === undefined || !BASE64.test(text)) return {};
  // Node reads both alphabets, and skips white space.
  const fields = fieldsOf(parsedJson(Buffer.from(text, 'base64')));
  const threeDSServerTransId = transactionId(fields['threeDSServerTransID']);
  const acsTransId = transactionId(fields['acsTransID']);
  return {
    ...(threeDSServerTransId === undefined ? {} : { threeDSServerTransId }),
    ...(acsTransId === undefined ? {} : { acsTransId }),
  };
}

/** Longer than every page id. */
const SESSION_DATA_LENGTH_MAX = 255;
const PAGE_ID = /^[A-Za-z0-9_-]+$/;

/** The page in the session data of {@link challengeFields}, which some ACSs pad or wrap. */
export function pageIdIn(sessionData: RawText | undefined): string | undefined {
  const pageId = sessionData?.within(SESSION_DATA_LENGTH_MAX)?.replace(/[\s=]/g, '');
  return pageId !== undefined && PAGE_ID.test(pageId) ? pageId : undefined;
}

function fieldsOf(message: unknown): Fields {
  return typeof message === 'object' && message !== null ? (message as Fields) : {};
}
