import type { Authentication, AuthenticationOutcome, DecidedChallenge } from './authentication';

/** EMV 3-D Secure 2.2: the only version that is spoken here. */
export const MESSAGE_VERSION = '2.2.0';

export interface AuthenticationResponse {
  messageType: 'ARes';
  messageVersion: string;
  threeDSServerTransID: string;
  dsTransID: string;
  acsTransID: string;
  /** `C`: a challenge is needed, at `acsURL`. */
  transStatus: AuthenticationOutcome['transStatus'] | 'C';
  transStatusReason?: string;
  eci?: string;
  authenticationValue?: string;
  acsURL?: string;
}

/** Says what the first answer said, however far a challenge has got since. */
export function authenticationResponse(authentication: Authentication, acsURL: string): AuthenticationResponse {
  return {
    messageType: 'ARes',
    ...idsOf(authentication),
    ...(authentication.state === 'answered' ? authentication.outcome : { transStatus: 'C', acsURL }),
  };
}

export type ResultRequest = ReturnType<typeof resultRequest>;

/** The result of a challenge, for the 3DS server. Every attempt carries the same bytes. */
export function resultRequest(challenge: DecidedChallenge) {
  return {
    messageType: 'RReq' as const,
    ...idsOf(challenge),
    messageCategory: '01',
    ...challenge.outcome,
    interactionCounter: '01',
  };
}

function idsOf({ request, dsTransID, acsTransID }: Authentication) {
  const { threeDSServerTransID } = request;
  return { messageVersion: MESSAGE_VERSION, threeDSServerTransID, dsTransID, acsTransID };
}
