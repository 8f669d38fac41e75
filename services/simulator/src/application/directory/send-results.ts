import type { DecidedChallenge } from '../../domain/directory/authentication';
import { afterAttempt, claimed } from '../../domain/directory/delivery';
import { resultRequest } from '../../domain/directory/messages';
import type { DirectoryPorts, Stored } from './ports';

/** Makes the attempt that the caller has claimed, and keeps what came of it. */
export async function attemptResult(ports: DirectoryPorts, stored: Stored<DecidedChallenge>): Promise<void> {
  const challenge = stored.authentication;
  const end = await ports.sendResult(challenge.request.threeDSServerURL, resultRequest(challenge));
  await ports.authentications.replace(stored, afterAttempt(challenge, end, ports.now()));
}

/** Attempts all result messages that are due, at whichever replica they arose. */
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
