import { untilWritten } from '@gateway/service-kit';
import type {
  AttemptEnd,
  Authentication,
  AuthenticationRequest,
  ChallengeDecision,
  ChallengeIds,
  DecidedChallenge,
  OpenChallenge,
  ResultRequest,
} from '../domain/authentication';
import {
  afterAttempt,
  claimed,
  decideAuthentication,
  decideChallenge,
  resultRequest,
  sameAuthentication,
} from '../domain/authentication';

/** An authentication with the version that guards its next change. */
export interface Stored<A extends Authentication = Authentication> {
  authentication: A;
  version: number;
}

/** Shared by directory server, ACS and all replicas. Writes are durable when they return. */
export interface Authentications {
  /** False if this `threeDSServerTransID` is known. */
  insert(authentication: Authentication): Promise<boolean>;
  /** Undefined if the authentication has changed since `previous` was read. */
  replace<A extends Authentication>(previous: Stored, next: A): Promise<Stored<A> | undefined>;
  /** Sees durable records only. */
  find(acsTransID: string): Promise<Stored | undefined>;
  /** Sees the write that just refused a change, and waits until it is durable. */
  findLatest(acsTransID: string): Promise<Stored | undefined>;
  /** Sees the record that just refused an insert, and waits until it is durable. */
  findLatestOf(threeDSServerTransID: string): Promise<Stored | undefined>;
  /** A batch of those whose result message is due, longest due first. */
  findDue(now: number): Promise<Stored[]>;
}

export interface DirectoryPorts {
  authentications: Authentications;
  /** Epoch ms. */
  now(): number;
  /** UUID, unpredictable. */
  newTransactionId(): string;
  /** Base64 of 20 random bytes. */
  newAuthenticationValue(): string;
  /** Sends a result message to a 3DS server, within a time-out. Never throws. */
  sendResult(url: string, message: ResultRequest): Promise<AttemptEnd>;
}

/**
 * Authenticates once per `threeDSServerTransID` and repeats the answer afterwards. `other-request`: the id was used
 * with other data.
 */
export function authenticate(
  ports: DirectoryPorts,
  request: AuthenticationRequest,
): Promise<Authentication | 'unavailable' | 'other-request'> {
  return untilWritten(async () => {
    const decided = decideAuthentication(request, {
      now: ports.now(),
      dsTransID: ports.newTransactionId(),
      acsTransID: ports.newTransactionId(),
      authenticationValue: ports.newAuthenticationValue(),
    });
    if (decided === 'unavailable' || (await ports.authentications.insert(decided))) return decided;
    const known = await ports.authentications.findLatestOf(request.threeDSServerTransID);
    if (known === undefined) return undefined;
    return sameAuthentication(known.authentication.request, request) ? known.authentication : 'other-request';
  });
}

/** Makes the attempt that the caller has claimed, and stores how it ended. */
export async function attemptResult(ports: DirectoryPorts, stored: Stored<DecidedChallenge>): Promise<void> {
  const challenge = stored.authentication;
  const end = await ports.sendResult(challenge.request.threeDSServerURL, resultRequest(challenge));
  await ports.authentications.replace(stored, afterAttempt(challenge, end, ports.now()));
}

/** Attempts all result messages that are due, whichever replica created them. */
export async function sendDueResults(ports: DirectoryPorts): Promise<void> {
  const due = await ports.authentications.findDue(ports.now());
  await Promise.all(due.map((stored) => sendDue(ports, stored)));
}

async function sendDue(ports: DirectoryPorts, stored: Stored): Promise<void> {
  const { authentication } = stored;
  const next = authentication.state === 'decided' ? claimed(authentication, ports.now()) : undefined;
  const mine = next === undefined ? undefined : await ports.authentications.replace(stored, next);
  if (mine !== undefined) await attemptResult(ports, mine);
}

export interface AcsPorts {
  authentications: Authentications;
  /** Epoch ms. */
  now(): number;
  /** Makes the first attempt to send a result. The directory server makes later ones itself. */
  reportResult(challenge: Stored<DecidedChallenge>): Promise<void>;
}

/** `unknown`: no such challenge. `misfit`: it belongs to another transaction of the 3DS server. */
export type NoChallenge = 'unknown' | 'misfit';

export interface FoundChallenge {
  authentication: OpenChallenge | DecidedChallenge;
  version: number;
}

/** Finds the challenge that a browser names. */
export async function findChallenge(
  { authentications }: AcsPorts,
  { acsTransID, threeDSServerTransID }: ChallengeIds,
  options: { latest: boolean } = { latest: false },
): Promise<FoundChallenge | NoChallenge> {
  const stored = await (options.latest ? authentications.findLatest(acsTransID) : authentications.find(acsTransID));
  if (stored === undefined || stored.authentication.state === 'answered') return 'unknown';
  const { authentication, version } = stored;
  return authentication.request.threeDSServerTransID === threeDSServerTransID ? { authentication, version } : 'misfit';
}

/**
 * Stores the cardholder's decision; the first one wins. Returns after the first attempt to inform the 3DS server, so
 * that the browser does not arrive there before the result.
 */
export function answerChallenge(
  ports: AcsPorts,
  ids: ChallengeIds,
  decision: ChallengeDecision,
): Promise<DecidedChallenge | NoChallenge> {
  return untilWritten(async (lost) => {
    const found = await findChallenge(ports, ids, { latest: lost > 0 });
    if (typeof found === 'string') return found;
    const { authentication } = found;
    if (authentication.state === 'decided') return authentication;
    const decided = await ports.authentications.replace(found, decideChallenge(authentication, decision, ports.now()));
    if (decided === undefined) return undefined;
    await ports.reportResult(decided);
    return decided.authentication;
  });
}
