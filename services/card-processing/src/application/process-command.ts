import { untilWritten } from '@gateway/service-kit';
import { createHash } from 'node:crypto';
import type { CardCommand, CardholderCommand, Secret } from '@gateway/contracts';
import { isTellable } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import type { Facts } from '../domain/decide';
import { decide, deadlineOf } from '../domain/decide';
import type { Payment, PaymentEvent } from '../domain/payment';
import { findOperation, newPayment } from '../domain/payment';
import { callAcquirer, callTimeoutMs } from './call-acquirer';
import { factsOfCard } from './card-facts';
import { presentationOf } from './custom-parameters';
import { outcomeOf } from './outcome';
import type { Ports, ReceivedCommand, ReplyAddress, StoredPayment } from './ports';
import type { Extras } from './record';
import { record } from './record';
import { loadRecords, recordRefusal } from './record-refusal';
import { routeFor, withHold } from './route';

/**
 * One command: load, decide, and store the intent or the end. Calling the acquirer, storing the outcome, replying and
 * publishing go on after the message is done, so that no acquirer holds up another payment's message. Run again with the same command it has no second effect: an operation on record is answered from the record, and one
 * whose intent is stored without an outcome is the resolver's.
 */
export async function processCommand(ports: Ports, received: ReceivedCommand): Promise<void> {
  const { reference } = received.command.data;
  const gathered = await gather(ports, received.command);
  // A base operation is expected to be its payment's first: the insert finds out, and saves a read.
  let expectNew = isFirst(received.command);
  const stored = await untilWritten(async () => {
    const taken = await takeUp(ports, received, gathered, expectNew);
    expectNew = false;
    return taken;
  });
  if (stored.pending?.reference !== reference || !stored.fresh) {
    await dropUnusedCvv(ports, received.command, stored.payment);
    return tell(ports, received, stored.payment);
  }
  const request = requestOf(received.command, gathered);
  const deadline = deadlineOf(received.command);
  await ports.calls.begin(async () =>
    tell(ports, received, await callAcquirer(ports, stored.payment, { request, causationId: received.id, deadline })),
  );
}

async function tell(ports: Ports, received: ReceivedCommand, payment: StoredPayment): Promise<void> {
  ports.publishEvents(payment);
  await reply(ports, received, payment);
}

function isFirst(command: CardCommand): boolean {
  if (!isCardholderCommand(command) || (command.data.checkoutAttempt ?? 1) > 1) return false;
  return !('authentication' in command.data) || command.data.authentication === undefined;
}

/** A CVV that no call has used goes with the end of its operation; while a call is pending it may be about to. */
async function dropUnusedCvv(ports: Ports, command: CardCommand, payment: StoredPayment): Promise<void> {
  const { reference } = command.data;
  const hasEnded = findOperation(payment, reference)?.status !== 'pending';
  if (isCardholderCommand(command) && command.data.withCvv && hasEnded) await ports.cards.dropCvv(reference);
}

/** Everything that deciding and calling need to know beside the payment itself. */
interface Gathered {
  facts: Omit<Facts, 'now'>;
  card?: Secret<CardData>;
  extras: Extras;
}

function isCardholderCommand(command: CardCommand): command is CardholderCommand {
  return 'customer' in command.data;
}

async function gather(ports: Ports, command: CardCommand): Promise<Gathered> {
  if (!isCardholderCommand(command)) return { facts: {}, extras: {} };
  const { merchantAccount, token } = command.data;
  const [account, card] = await Promise.all([
    ports.accounts.find(merchantAccount),
    ports.cards.getCard(merchantAccount, token),
  ]);
  const terminal = routeFor(account, command.data);
  const paresHash = paresHashOf(command);
  if (card === undefined) return { facts: { route: terminal, paresHash }, extras: {} };
  const known = factsOfCard(card);
  const facts = { card: known, route: withHold(terminal, ports.holds, { ...command.data, ...known }), paresHash };
  // Names and digits are kept only for accounts whose responses show them.
  const shown = account !== undefined && account.customParameters.length > 0;
  return { facts, card, extras: shown ? { presentation: presentation(ports, command, card, known.brand) } : {} };
}

function paresHashOf({ data }: CardholderCommand): string | undefined {
  const authentication = 'authentication' in data ? data.authentication : undefined;
  return authentication && createHash('sha256').update(authentication.pares).digest('hex');
}

function presentation(ports: Ports, command: CardholderCommand, card: Secret<CardData>, brand: string) {
  const { customer, notes } = command.data;
  return presentationOf(card, { brand, panHash: ports.cards.panHash(card), customer, notes });
}

interface TakenUp {
  payment: StoredPayment;
  pending?: StoredPayment['pending'];
  /** True when this very run stored the intent. Only then is the acquirer called. */
  fresh: boolean;
}

async function takeUp(
  ports: Ports,
  received: ReceivedCommand,
  gathered: Gathered,
  expectNew: boolean,
): Promise<TakenUp | undefined> {
  const { command } = received;
  const { paymentId, reference, merchantAccount } = command.data;
  const [loaded, alone] = expectNew ? [null, null] : await loadRecords(ports, command);
  if (alone !== null) return { payment: alone, fresh: false };
  if (loaded !== null && findOperation(loaded, reference) !== undefined) return { payment: loaded, fresh: false };
  const own = loaded === null || loaded.merchantAccount === merchantAccount;
  const payment: Payment = own ? (loaded ?? newPayment(merchantAccount)) : newPayment(merchantAccount);
  const now = ports.now();
  const decided = decide(payment, command, { ...gathered.facts, now });
  if (typeof decided === 'string') {
    const refused = await recordRefusal(ports, command, own ? loaded : undefined, decided, received.id);
    return refused && { payment: refused, fresh: false };
  }
  const extras = { ...gathered.extras, ...waitFor(ports, received, decided, { now, route: loaded?.route }) };
  const target = { id: paymentId, merchantAccount, stored: loaded };
  const stored = await record(ports, target, decided, extras, received.id);
  return stored && { payment: stored, pending: stored.pending, fresh: true };
}

/** How long the outcome of what begins may take before it is looked for, and what is needed when it comes. */
function waitFor(
  ports: Ports,
  received: ReceivedCommand,
  decided: readonly PaymentEvent[],
  known: { now: number; route: Payment['route'] | undefined },
): Extras {
  for (const event of decided) {
    if (event.type === 'OperationStarted') {
      return { resolveAt: known.now + callTimeoutMs(ports, event.route ?? known.route) };
    }
    if (event.type === 'AuthenticationRequested') {
      const { command } = received;
      const replyTo = replyAddressOf(received);
      return {
        resolveAt: known.now + ports.authenticationPatienceMs,
        awaiting: {
          customer: event.request.customer,
          withCvv: isCardholderCommand(command) && command.data.withCvv,
          ...(replyTo === undefined ? {} : { replyTo }),
        },
      };
    }
  }
  return {};
}

function requestOf(command: CardCommand, gathered: Gathered) {
  return {
    ...('amountE4' in command.data ? { amountE4: command.data.amountE4 } : {}),
    ...(isCardholderCommand(command) ? { customer: command.data.customer, withCvv: command.data.withCvv } : {}),
    ...(gathered.card === undefined ? {} : { card: gathered.card }),
  };
}

async function reply(ports: Ports, received: ReceivedCommand, payment: StoredPayment): Promise<void> {
  const to = replyAddressOf(received);
  if (to === undefined) return;
  const outcome = await outcomeOf(ports, payment, received.command.data.reference);
  if (outcome !== undefined && isTellable(outcome)) await ports.reply(outcome, to);
}

function replyAddressOf({ id, correlationId, replyPartition }: ReceivedCommand): ReplyAddress | undefined {
  return replyPartition === undefined ? undefined : { partition: replyPartition, correlationId, causationId: id };
}
