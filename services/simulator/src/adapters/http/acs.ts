import type { RawText } from '@gateway/contracts';
import { rawText } from '@gateway/contracts';
import type { Locale } from '@gateway/pages';
import { localeFor } from '@gateway/pages';
import type { AcsPorts, NoChallenge } from '../../application/authentication';
import { answerChallenge, findChallenge } from '../../application/authentication';
import type { ChallengeDecision, ChallengeIds, DecidedChallenge, OpenChallenge } from '../../domain/authentication';
import { CHALLENGE_DECISIONS, challengeResponse, MESSAGE_VERSION } from '../../domain/authentication';
import type { ChallengePage } from './acs-pages';
import { alreadyAnsweredPage, challengePage, errorPage } from './acs-pages';
import type { HttpAnswer, HttpRequest, Route } from './listener';
import { HttpProblem } from './listener';

/** Of {@link SESSION_DATA}. */
const SESSION_DATA_LENGTH_MAX = 8_194;
/** A CReq and a CRes have some 300 characters; extensions may be added. */
const MESSAGE_LENGTH_MAX = 8_192;

export const CHALLENGE_PATH = '/acs/v2/challenge';

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const WINDOW_SIZE = /^0[1-5]$/;
/** base64url; long enough for a 3DS server that stores a whole address in it. */
const SESSION_DATA = /^[A-Za-z0-9_-]{0,8192}={0,2}$/;

/**
 * The issuer's access control server: a page for the cardholder, and the target of its buttons. `acsURL` is how
 * browsers reach {@link CHALLENGE_PATH}. Knowing the ids of a challenge is the permission to answer it.
 */
export function acsRoutes(ports: AcsPorts, acsURL: () => string): Route[] {
  async function show(request: HttpRequest): Promise<HttpAnswer> {
    const form = await request.form();
    const ids = readChallengeRequest(form.get('creq')?.within(MESSAGE_LENGTH_MAX));
    const sessionData = readSessionData(form);
    const found = await findChallenge(ports, ids);
    if (typeof found === 'string') throw noChallenge(found);
    const challenge = found.authentication;
    const page =
      challenge.state === 'decided'
        ? alreadyAnsweredPage(localeOf(request), contentOf(challenge, sessionData, acsURL()))
        : challengePage(localeOf(request), contentOf(challenge, sessionData, acsURL()));
    return { kind: 'page', status: 200, page };
  }

  async function decide(request: HttpRequest): Promise<HttpAnswer> {
    const form = await request.form();
    const { ids, decision } = readDecision(request.params['acsTransID'] ?? '', form);
    const sessionData = readSessionData(form);
    const challenge = await answerChallenge(ports, ids, decision);
    if (typeof challenge === 'string') throw noChallenge(challenge);
    if (challenge.decision === decision) {
      return { kind: 'post-again', location: challenge.request.notificationURL };
    }
    const page = alreadyAnsweredPage(localeOf(request), contentOf(challenge, sessionData, acsURL()));
    return { kind: 'page', status: 200, page };
  }

  return [
    { method: 'POST', path: CHALLENGE_PATH, callers: 'browsers', handle: show, refusal: pageRefusal },
    {
      method: 'POST',
      path: `${CHALLENGE_PATH}/:acsTransID/decision`,
      callers: 'browsers',
      handle: decide,
      refusal: pageRefusal,
    },
  ];
}

function contentOf<C extends OpenChallenge | DecidedChallenge>(
  challenge: C,
  sessionData: string,
  acsURL: string,
): ChallengePage<C> {
  const { acsTransID, request } = challenge;
  const ids = { acsTransID, threeDSServerTransID: request.threeDSServerTransID };
  return {
    challenge,
    sessionData,
    action: `${acsURL}/${acsTransID}/decision`,
    cresOf: (decision) => writeChallengeResponse(ids, decision),
  };
}

function readSessionData(form: ReadonlyMap<string, RawText>): string {
  const given = form.get('threeDSSessionData');
  const sessionData = given === undefined ? '' : given.within(SESSION_DATA_LENGTH_MAX);
  if (sessionData === undefined || !SESSION_DATA.test(sessionData))
    throw new HttpProblem(400, 'threeDSSessionData is malformed');
  return sessionData;
}

function noChallenge(reason: NoChallenge): HttpProblem {
  return reason === 'unknown'
    ? new HttpProblem(404, 'There is no such challenge, or it is too long ago.')
    : new HttpProblem(400, 'The ids do not belong to the same transaction.');
}

/** Browsers always get a page. */
export function pageRefusal({ status, message, headers }: HttpProblem, request: HttpRequest): HttpAnswer {
  return { kind: 'page', status, page: errorPage(localeOf(request), status, message), headers };
}

/** The browser's language. */
function localeOf(request: HttpRequest): Locale {
  return localeFor(rawText(request.header('accept-language')));
}

/** Reads base64url of JSON; throws a 400 for anything else. */
function decoded(field: string, text: string | undefined): Record<string, unknown> {
  try {
    if (text === undefined || !BASE64URL.test(text)) throw new Error('not base64url');
    const message = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown;
    if (typeof message !== 'object' || message === null) throw new Error('not an object');
    return message as Record<string, unknown>;
  } catch {
    throw new HttpProblem(400, `${field} is missing or malformed`);
  }
}

/** The ids in a `creq`; throws a 400 unless it is a CReq of the supported version. */
function readChallengeRequest(creq: string | undefined): ChallengeIds {
  const { messageType, messageVersion, acsTransID, threeDSServerTransID, challengeWindowSize } = decoded('creq', creq);
  if (messageType !== 'CReq' || messageVersion !== MESSAGE_VERSION) throw new HttpProblem(400, 'creq is not a CReq');
  if (typeof challengeWindowSize !== 'string' || !WINDOW_SIZE.test(challengeWindowSize)) {
    throw new HttpProblem(400, 'creq has no window size');
  }
  if (typeof acsTransID !== 'string' || typeof threeDSServerTransID !== 'string') {
    throw new HttpProblem(400, 'creq has no transaction ids');
  }
  return { acsTransID, threeDSServerTransID };
}

function writeChallengeResponse(ids: ChallengeIds, decision: ChallengeDecision): string {
  return Buffer.from(JSON.stringify(challengeResponse(ids, decision))).toString('base64url');
}

/**
 * Reads a button's form. Throws a 400 if `cres` is not what the page contained for this decision: it goes on to the
 * 3DS server unchanged.
 */
function readDecision(
  acsTransID: string,
  form: ReadonlyMap<string, RawText>,
): { ids: ChallengeIds; decision: ChallengeDecision } {
  const decision = CHALLENGE_DECISIONS.find((known) => form.get('decision')?.is(known));
  if (decision === undefined) throw new HttpProblem(400, 'decision is missing or unknown');
  const cres = form.get('cres')?.within(MESSAGE_LENGTH_MAX);
  const { threeDSServerTransID } = decoded('cres', cres);
  if (typeof threeDSServerTransID !== 'string') throw new HttpProblem(400, 'cres has no transaction id');
  const ids = { acsTransID, threeDSServerTransID };
  if (writeChallengeResponse(ids, decision) !== cres) throw new HttpProblem(400, 'cres does not fit the decision');
  return { ids, decision };
}
