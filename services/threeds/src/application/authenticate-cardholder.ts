import { untilWritten } from '@gateway/service-kit';
import type { AuthenticateCardholderData } from '@gateway/contracts';
import type { Secret } from '@gateway/service-kit';
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

/**
 * One command, start to end: put the authentication on record, ask the directory server, record what its answer means.
 * Run again, it asks again under the same transaction id as long as no answer is on record, and changes nothing after.
 */
export async function authenticateCardholder(ports: Ports, command: ReceivedCommand): Promise<void> {
  const { reference } = command.data;
  let stored = await untilWritten(() => takeUp(ports, command.data, command.correlationId));
  const decide = await decisionOn(ports, stored, command.data);
  await untilWritten(async () => {
    const event = decide(stored);
    if (event === undefined) {
      ports.publishEvents(stored);
      return stored;
    }
    const written = await record(ports, stored, event, command.id);
    if (written === undefined) stored = (await ports.authentications.load(reference)) ?? stored;
    return written;
  });
}

/** The authentication as it stands, put on record if it is new. */
export async function takeUp(
  ports: Ports,
  asked: AskedAuthentication,
  correlationId: string,
): Promise<StoredAuthentication | undefined> {
  const stored = await ports.authentications.load(asked.reference);
  if (stored !== null) return stored;
  const names = { pageId: ports.newPageId(), threeDSServerTransId: ports.newId() };
  return recordNew(ports, { ...newAuthentication(asked, names), correlationId });
}

type Decision = (authentication: Authentication) => AuthenticationEvent | undefined;

/** Gathers what there is to know, once; deciding may take more than one attempt. */
async function decisionOn(
  ports: Ports,
  stored: StoredAuthentication,
  asked: AuthenticateCardholderData,
): Promise<Decision> {
  if (stored.state.kind !== 'requested') return () => undefined;
  if (decideDeadline(stored, ports.now()) !== undefined) return (current) => decideDeadline(current, ports.now());
  const card = await ports.cards.getCard(asked.merchantAccount, asked.token);
  if (card === undefined) return decideCardUnknown;
  const answer = await ports.directory.authenticate({
    threeDSServerTransId: stored.ids.threeDSServerTransId,
    card,
    customer: asked.customer,
    merchantAccount: asked.merchantAccount,
    midReference: asked.midReference,
    amountE4: asked.amountE4,
    currency: asked.currency,
    acceptedAt: asked.acceptedAt,
  });
  return (current) =>
    decideAnswer(current, answer, {
      card: factsOf(card),
      now: ports.now(),
      challengeTimeoutMs: ports.challengeTimeoutMs,
    });
}

const SHOWN_DIGITS = 4;

function factsOf(card: Secret<CardData>): CardFacts {
  const { pan } = card.expose();
  return { scheme: schemeOf(pan), lastDigits: pan.slice(-SHOWN_DIGITS) };
}
