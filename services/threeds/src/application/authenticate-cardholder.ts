import { untilWritten } from '@gateway/service-kit';
import type { AuthenticateCardholderData, Secret } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import type { AskedAuthentication, Authentication, AuthenticationEvent, CardFacts } from '../domain/authentication';
import { newAuthentication } from '../domain/authentication';
import { decideAnswer, decideCardUnknown, decideDeadline } from '../domain/decide';
import { schemeOf } from '../domain/scheme';
import type { Ports, StoredAuthentication } from './ports';
import { record, recordNew } from './record';

/** A command with what its message says about where it came from. */
export interface ReceivedCommand {
  data: AuthenticateCardholderData;
  /** Id of the message. */
  id: string;
  correlationId: string;
}

/** How long after its time a call may still be under way in a process that is slow. */
const LEASE_MARGIN_MS = 2_000;

/**
 * One command: put the authentication on record, with what it takes to ask the directory server. Asking, and recording
 * what the answer means, go on after the message is done. Run again, it publishes what an outbox still holds; a request
 * whose process died is taken up by any replica when its lease has run out.
 */
export async function authenticateCardholder(ports: Ports, command: ReceivedCommand): Promise<void> {
  const { data, id, correlationId } = command;
  const { stored, isNew } = await untilWritten(() => takeUp(ports, data, correlationId, { data, id }));
  if (isNew || isUnclaimed(stored)) await ask(ports, stored, { data, id });
  else ports.publishEvents(stored);
}

/** Put on record by a version of this service that kept no command. */
function isUnclaimed({ state, command }: StoredAuthentication): boolean {
  return state.kind === 'requested' && command === undefined;
}

/** The authentication as it stands, put on record if it is new. */
export async function takeUp(
  ports: Ports,
  asked: AskedAuthentication,
  correlationId: string,
  command?: Command,
): Promise<{ stored: StoredAuthentication; isNew: boolean } | undefined> {
  const known = await ports.authentications.load(asked.reference);
  if (known !== null) return { stored: known, isNew: false };
  const names = { pageId: ports.newPageId(), threeDSServerTransId: ports.newId() };
  const body = { ...newAuthentication(asked, names), correlationId };
  const resolveAt = ports.now() + leaseMs(ports);
  const stored = await recordNew(ports, command === undefined ? body : { ...body, command, resolveAt });
  return stored && { stored, isNew: true };
}

type Command = NonNullable<StoredAuthentication['command']>;

/** From the record on, how long no other replica may ask. */
export function leaseMs({ directory }: Pick<Ports, 'directory'>): number {
  return directory.longestCallMs + LEASE_MARGIN_MS;
}

/** Asks the directory server about an authentication that this replica has on lease. Resolves when the call has begun. */
export async function ask(ports: Ports, stored: StoredAuthentication, command: Command): Promise<void> {
  const { data, id } = command;
  if (decideDeadline(stored, ports.now()) !== undefined) {
    return recordDecision(ports, stored, (current) => decideDeadline(current, ports.now()), id);
  }
  const card = await ports.cards.getCard(data.merchantAccount, data.token);
  if (card === undefined) return recordDecision(ports, stored, decideCardUnknown, id);
  const call = ports.directory.prepare({
    threeDSServerTransId: stored.ids.threeDSServerTransId,
    card,
    customer: data.customer,
    merchantAccount: data.merchantAccount,
    midReference: data.midReference,
    amountE4: data.amountE4,
    currency: data.currency,
    acceptedAt: data.acceptedAt,
    isTooLate: () => decideDeadline(stored, ports.now()) !== undefined,
  });
  await ports.calls.begin(async () => {
    const answer = await call();
    const facts = { card: factsOf(card), challengeTimeoutMs: ports.challengeTimeoutMs };
    await recordDecision(ports, stored, (current) => decideAnswer(current, answer, { ...facts, now: ports.now() }), id);
  });
}

type Decision = (authentication: Authentication) => AuthenticationEvent | undefined;

/** Decides and writes, again when someone else wrote meanwhile. */
async function recordDecision(
  ports: Ports,
  read: StoredAuthentication,
  decide: Decision,
  causationId: string,
): Promise<void> {
  let stored = read;
  await untilWritten(async () => {
    const event = decide(stored);
    if (event === undefined) {
      ports.publishEvents(stored);
      return stored;
    }
    const written = await record(ports, stored, event, causationId);
    if (written === undefined) stored = (await ports.authentications.load(stored.reference)) ?? stored;
    return written;
  });
}

const SHOWN_DIGITS = 4;

function factsOf(card: Secret<CardData>): CardFacts {
  const { pan } = card.expose();
  return { scheme: schemeOf(pan), lastDigits: pan.slice(-SHOWN_DIGITS) };
}
