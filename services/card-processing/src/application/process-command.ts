import { createHash } from 'node:crypto';
import type { CardCommand, CardholderCommand, Secret } from '@gateway/contracts';
import { isAnswered, realmOf } from '@gateway/contracts';
import type { CardData, CardOwner } from '@gateway/vault';
import type { Facts } from '../domain/decide';
import { deadlineOf } from '../domain/decide';
import { deciderOf } from '../domain/overdue';
import type { Operation, ReplyAddress } from '../domain/payment';
import { findOperation } from '../domain/payment';
import { callAcquirer, leaseEnd } from './call-acquirer';
import { factsOfCard } from './card-facts';
import { presentationOf } from './custom-parameters';
import { outcomeOf } from './outcome';
import type { Ports, ReceivedCommand, StoredPayment } from './ports';
import { recordOperation } from './record-operation';
import { routeFor, withHold } from './route';
import type { ScreenedAttempt } from './screen-attempt';
import { screenAttempt, takeBack } from './screen-attempt';

/**
 * Decides one command, and stores the intent or the end. The acquirer call, its outcome and the reply follow after the
 * message is done, so that no acquirer delays another payment's message. A repeated command is answered from the
 * record; the resolver handles an intent without an outcome, and a command whose record may be lost.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { command, id: causationId } = received;
  const { reference } = command.data;
  const { card, facts, screened } = await gather(ports, received);
  const decideOn = deciderOf(command, ports.now(), received.inRecovery);
  const { written, payment } = await recordOperation(
    ports,
    command,
    (current) => decideOn(current, command, { ...facts, ...timesOf(ports, command) }),
    // A base operation is usually its payment's first, so try the insert before loading.
    { causationId, expectNew: isFirst(command) },
  );
  if (screened !== undefined) {
    afterScreening(ports, reference, screened, { written, operation: findOperation(payment, reference) });
  }
  if (!written || payment.pending?.reference !== reference) {
    await dropUnusedCvv(ports, command, payment);
    return reply(ports, received, payment);
  }
  const context = { request: requestOf(command, card), causationId, deadline: deadlineOf(command) };
  await ports.calls.begin(async () => reply(ports, received, await callAcquirer(ports, payment, context)));
}

/** An operation on record without counts was refused, or had ended before this attempt was counted. */
function afterScreening(
  ports: Ports,
  reference: string,
  screened: ScreenedAttempt,
  { written, operation }: { written: boolean; operation: Operation | undefined },
): void {
  if (operation?.declineCounts === undefined) takeBack(ports, reference, screened);
  if (written && operation?.refusedBy !== undefined) {
    ports.logger.info('a velocity rule declined an attempt', { reference, ...operation.refusedBy });
  }
}

function isFirst(command: CardCommand): boolean {
  if (!isCardholderCommand(command) || (command.data.checkoutAttempt ?? 1) > 1) return false;
  return !('authentication' in command.data) || command.data.authentication === undefined;
}

/** Deletes an unused CVV when its operation ends. A pending call may still use it. */
async function dropUnusedCvv(ports: Ports, command: CardCommand, payment: StoredPayment): Promise<void> {
  const { reference } = command.data;
  const hasEnded = findOperation(payment, reference)?.status !== 'pending';
  if (isCardholderCommand(command) && command.data.withCvv && hasEnded) await ports.cards.dropCvv(reference);
}

/** Facts beside the payment itself that the decision and the call need. */
interface Gathered {
  facts: Omit<Facts, 'now' | 'leaseEnd' | 'authenticationEnd'>;
  card?: Secret<CardData>;
  screened?: ScreenedAttempt | undefined;
}

function timesOf(ports: Ports, command: CardCommand): Pick<Facts, 'now' | 'leaseEnd' | 'authenticationEnd'> {
  const now = ports.now();
  const authenticationEnd = now + ports.authenticationPatienceMs;
  const withCvv = isCardholderCommand(command) && command.data.withCvv;
  return { now, leaseEnd: (route) => leaseEnd(ports, route, { withCvv }), authenticationEnd };
}

function isCardholderCommand(command: CardCommand): command is CardholderCommand {
  return 'customer' in command.data;
}

async function gather(ports: Ports, received: ReceivedCommand): Promise<Gathered> {
  const { command } = received;
  if (!isCardholderCommand(command)) return { facts: {} };
  const { merchantAccount, token } = command.data;
  const [account, card] = await Promise.all([
    ports.accounts.find(merchantAccount),
    ports.cards.getCard(ownerOf(command), token),
  ]);
  const terminal = routeFor(account, command.data, (name) => ports.connector(name));
  const facts = {
    route: terminal,
    paresHash: paresHashOf(command),
    cardTokens: cardTokensOf(ports, command, card),
    replyTo: replyAddressOf(received),
    holdCallbackHours: account?.holdCallbackHours,
  };
  if (card === undefined) return { facts };
  const known = factsOfCard(card);
  const route = withHold(terminal, ports.holds, { ...command.data, ...known });
  // Names and digits are kept only for accounts whose responses show them.
  const isShown = account !== undefined && account.customParameters.length > 0;
  const shown = isShown ? { presentation: presentation(ports, command, card, known.brand) } : {};
  const screened =
    account === undefined ||
    typeof route === 'string' ||
    ports.now() > command.data.deadline ||
    received.inRecovery !== undefined
      ? undefined
      : await screenAttempt(ports, command, { account, card });
  return { card, screened, facts: { ...facts, ...shown, card: known, route, velocity: screened } };
}

function paresHashOf({ data }: CardholderCommand): string | undefined {
  const authentication = 'authentication' in data ? data.authentication : undefined;
  return authentication && createHash('sha256').update(authentication.pares).digest('hex');
}

function ownerOf({ data: { merchantAccount, currency } }: CardholderCommand): CardOwner {
  return { merchantAccount, realm: realmOf(currency) };
}

/** An AUTH3D may have got the card's token from another key, or from before test cards had tokens of their own. */
function cardTokensOf(ports: Ports, { data }: CardholderCommand, card: Secret<CardData> | undefined): string[] {
  if (!('authentication' in data) || data.authentication === undefined || card === undefined) return [];
  return ports.cards.tokensOf(data.merchantAccount, card);
}

function presentation(ports: Ports, command: CardholderCommand, card: Secret<CardData>, brand: string) {
  const { customer, notes } = command.data;
  return presentationOf(card, { brand, storageId: ports.cards.storageId(ownerOf(command), card), customer, notes });
}

function requestOf(command: CardCommand, card: Secret<CardData> | undefined) {
  return {
    ...('amountE4' in command.data ? { amountE4: command.data.amountE4 } : {}),
    ...(isCardholderCommand(command) ? { customer: command.data.customer, withCvv: command.data.withCvv } : {}),
    ...(card === undefined ? {} : { card }),
  };
}

async function reply(ports: Ports, received: ReceivedCommand, payment: StoredPayment): Promise<void> {
  const to = replyAddressOf(received);
  if (to === undefined) return;
  const outcome = await outcomeOf(ports, payment, received.command.data.reference);
  if (outcome !== undefined && isAnswered(outcome)) await ports.reply(outcome, to);
}

function replyAddressOf({ id, correlationId, replyPartition }: ReceivedCommand): ReplyAddress | undefined {
  return replyPartition === undefined ? undefined : { partition: replyPartition, correlationId, causationId: id };
}
