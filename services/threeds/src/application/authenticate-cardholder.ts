import type { AuthenticateCardholderData, Secret } from '@gateway/contracts';
import { isTestCurrency, realmOf, testMark } from '@gateway/contracts';
import { callLeaseMs } from '@gateway/mongo';
import type { CardData } from '@gateway/vault';
import type {
  AskedAuthentication,
  Authentication,
  AuthenticationEvent,
  CardFacts,
  Command,
} from '../domain/authentication';
import { merchantNameOf } from '../domain/authentication';
import { decideAnswer, decideCardUnknown, decideDeadline } from '../domain/decide';
import { schemeOf } from '../domain/scheme';
import type { Ports, StoredAuthentication } from './ports';

/** A command and the ids of its message. */
export interface ReceivedCommand {
  data: AuthenticateCardholderData;
  /** Id of the message. */
  id: string;
  correlationId: string;
}

/**
 * Stores the authentication with its command, then asks the directory server; the call and its result outlast the
 * message. A redelivered command only publishes the rest of the outbox. If the process dies, any replica repeats the
 * request when the lease expires.
 */
export async function authenticateCardholder(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { data, id, correlationId } = received;
  const command = { data, id };
  const account = await ports.accounts.find(data.merchantAccount);
  const request = { command, resolveAt: ports.now() + leaseMs(ports) };
  const asked = { ...data, ...testMark(isTestCurrency(data.currency)) };
  const requested = { ...requestedNow(ports, asked, correlationId, account?.displayName), request };
  const { written, stored } = await ports.handle(data.reference, (known) => (known === null ? [requested] : []), {
    causationId: id,
  });
  if (stored !== null && (written || isUnclaimed(stored))) await ask(ports, stored, command);
}

/** Stored by a version of this service that kept no command. */
function isUnclaimed({ state, command }: StoredAuthentication): boolean {
  return state.kind === 'requested' && command === undefined;
}

export function requestedNow(ports: Ports, asked: AskedAuthentication, correlationId: string, merchantName?: string) {
  const { keyId: proofKeyId } = ports.proofs;
  const names = { pageId: ports.newPageId(), proofKeyId, threeDSServerTransId: ports.newId(), correlationId };
  const known = merchantName === undefined ? names : { ...names, merchantName };
  return { type: 'AuthenticationRequested', asked, names: known } as const;
}

/** From the moment of storing, how long no other replica may ask. */
export function leaseMs({ directory }: Pick<Ports, 'directory'>): number {
  return callLeaseMs(directory.longestCallMs);
}

/** Asks the directory server about an authentication that this replica has claimed. Resolves when the call has begun. */
export async function ask(ports: Ports, stored: StoredAuthentication, command: Command): Promise<void> {
  const { data, id } = command;
  if (decideDeadline(stored, ports.now()) !== undefined) {
    return recordDecision(ports, stored, (current) => decideDeadline(current, ports.now()), id);
  }
  const owner = { merchantAccount: data.merchantAccount, realm: realmOf(data.currency) };
  const card = await ports.cards.getCard(owner, data.token);
  if (card === undefined) return recordDecision(ports, stored, decideCardUnknown, id);
  const call = ports.directory.prepare({
    threeDSServerTransId: stored.ids.threeDSServerTransId,
    card,
    customer: data.customer,
    merchantAccount: data.merchantAccount,
    merchantName: merchantNameOf(stored),
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

async function recordDecision(
  ports: Ports,
  stored: StoredAuthentication,
  decide: (authentication: Authentication) => AuthenticationEvent | undefined,
  causationId: string,
): Promise<void> {
  await ports.handle(stored, (current) => listOf(decide(current)), { causationId });
}

/** At most one event. */
export function listOf(event: AuthenticationEvent | undefined): AuthenticationEvent[] {
  return event === undefined ? [] : [event];
}

const SHOWN_DIGITS = 4;

function factsOf(card: Secret<CardData>): CardFacts {
  const { pan } = card.expose();
  return { scheme: schemeOf(pan), lastDigits: pan.slice(-SHOWN_DIGITS) };
}
