import type { Account } from '@gateway/accounts';
import { cardRulesFor } from '@gateway/accounts';
import type { CardholderCommand, Hit, Secret } from '@gateway/contracts';
import { realmOf } from '@gateway/contracts';
import { sourceKey } from '@gateway/service-kit';
import type { CardData, CountingHashes } from '@gateway/vault';
import type { Count, Operation, Payment, PaymentEvent } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { AttemptEnd, Subjects, Used, VelocityRule } from '../domain/velocity';
import { countsPayments, rulesOn, totalMaxOf, velocityHit } from '../domain/velocity';
import { mailboxOf } from './mailbox';
import type { Counter, Counters, Ports } from './ports';

const BIN_LENGTH = 6;

/** What the velocity rules say of an attempt, and where it was counted meanwhile. */
export interface ScreenedAttempt {
  /** The first rule that refuses. */
  hit: Hit | undefined;
  declineCounts: Count[];
  attemptCounts: Count[];
}

/**
 * Counts an attempt by the velocity rules of its account; undefined if it has none for the currency, which costs no
 * database operation. A repeated command counts once.
 */
export async function screenAttempt(
  ports: Pick<Ports, 'counters' | 'cards'>,
  command: CardholderCommand,
  { account, card }: { account: Account; card: Secret<CardData> },
): Promise<ScreenedAttempt | undefined> {
  const { merchantAccount, currency, reference } = command.data;
  const rules = cardRulesFor(account, currency);
  if (rules.length === 0) return undefined;
  const realm = realmOf(currency);
  const counted = ports.cards.countingHashes.flatMap((hashes) => {
    const payingCard = hashes.fingerprint([merchantAccount, realm, 'paying', hashes.panHash(card)]);
    return rulesOn(rules, subjectsOf(hashes, command, card)).map(({ rule, value }) => {
      const { kind, by, windowSeconds } = rule;
      const id = hashes.fingerprint([merchantAccount, realm, kind, by, String(windowSeconds), value]);
      return { rule, id, payingCard };
    });
  });
  const counters = counted.map(({ rule, id }): Counter => {
    const { max, windowSeconds } = rule;
    return { id, max, totalMax: totalMaxOf(rule), windowSeconds, countsPayments: countsPayments(rule) };
  });
  const results = await ports.counters.count(reference, counters);
  const screened: ScreenedAttempt = { hit: undefined, declineCounts: [], attemptCounts: [] };
  counted.forEach(({ rule, payingCard }, index) => {
    const [result, counter] = [results[index], counters[index]?.id];
    if (result === undefined || counter === undefined) throw new Error('broken invariant: a rule was not counted');
    // By the time it was read, the counter may have had room again.
    if (!result.counted) screened.hit ??= velocityHit(rule, result.used) ?? velocityHit(rule, fullOf(rule));
    else {
      const paying = countsPayments(rule) ? { card: payingCard } : {};
      screened[rule.kind === 'declines' ? 'declineCounts' : 'attemptCounts'].push({
        ...{ counter, slot: result.slot },
        ...paying,
      });
    }
  });
  return screened;
}

function fullOf(rule: VelocityRule): Used {
  return { declines: 0, paid: 0, attempts: totalMaxOf(rule) };
}

function subjectsOf(hashes: CountingHashes, { data }: CardholderCommand, card: Secret<CardData>): Subjects {
  // Without a customer, the address is the merchant's own.
  const ip = data.cofType === 'MIT' ? undefined : sourceKey(data.browserIp ?? data.customer.ip);
  return {
    ip,
    card: hashes.panHash(card),
    bin: card.expose().pan.slice(0, BIN_LENGTH),
    email: mailboxOf(data.customer.email),
    account: '',
  };
}

/** Takes an attempt back that was refused, or that no rule of its payment let begin. */
export function takeBack({ counters }: { counters: Counters }, reference: string, screened: ScreenedAttempt): void {
  counters.takeBack(reference, [...screened.declineCounts, ...screened.attemptCounts]);
}

/** Counts what was written: how an attempt ended, that its card has paid, or that its merchant paid it back. */
export function countEnd({ counters }: { counters: Counters }, event: PaymentEvent, payment: Payment): void {
  const reference = referenceOf(event);
  const operation = reference === undefined ? undefined : findOperation(payment, reference);
  if (operation === undefined) return;
  const end = endOf(event);
  const { declineCounts } = operation;
  if (end !== undefined && declineCounts !== undefined) counters.end(declineCounts, end);
  if (event.type !== 'OperationSucceeded') return;
  const counts = countsOfAttempt(payment, operation);
  if (counts === undefined) return;
  const moved = moneyMovedBy(operation, payment);
  if (moved === 'in') counters.pay(counts);
  if (moved === 'out') counters.payBack(counts);
}

/** Of the operation, or of the attempt that it follows from. */
function countsOfAttempt(payment: Payment, operation: Operation): readonly Count[] | undefined {
  let current: Operation | undefined = operation;
  for (let steps = 0; steps < payment.operations.length && current !== undefined; steps += 1) {
    if (current.declineCounts !== undefined) return current.declineCounts;
    current = current.baseReference === undefined ? undefined : findOperation(payment, current.baseReference);
  }
  return undefined;
}

function moneyMovedBy({ type }: Operation, payment: Payment): 'in' | 'out' | undefined {
  switch (type) {
    case 'SALE':
    case 'SALE3D':
    case 'SETTLE':
      return 'in';
    case 'REFUND':
      return 'out';
    case 'VOID':
      return payment.operations.some((one) => one.type === 'SETTLE' && one.status === 'success') ? 'out' : undefined;
    case 'AUTH':
    case 'AUTH3D':
    case 'TOKENIZE':
      return undefined;
  }
}

function referenceOf(event: PaymentEvent): string | undefined {
  if ('operation' in event) return event.operation.reference;
  return 'reference' in event ? event.reference : undefined;
}

function endOf({ type }: PaymentEvent): AttemptEnd | undefined {
  switch (type) {
    case 'OperationDeclined':
    case 'AuthenticationDeclined':
    // Only what was declined without a bank has counts; a refused attempt counts nowhere.
    case 'OperationRecorded':
      return 'declined';
    case 'OperationSucceeded':
    case 'CardAuthenticated':
    case 'OperationFailed':
      return 'not-declined';
    default:
      return undefined;
  }
}
