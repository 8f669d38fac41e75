import type { Account } from '@gateway/accounts';
import { cardRulesFor } from '@gateway/accounts';
import type { CardholderCommand, Hit, Secret } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import { sourceKey } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Count, Payment, PaymentEvent } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { AttemptEnd, Subjects, Used, VelocityRule } from '../domain/velocity';
import { ADDED_AT_END, rulesOn, totalMaxOf, velocityHit } from '../domain/velocity';
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
  const counted = rulesOn(rules, subjectsOf(ports, command, card));
  const realm = currency === TEST_CURRENCY ? 'test' : 'real';
  const counters = counted.map(({ rule, value }): Counter => {
    const { kind, by, max, windowSeconds } = rule;
    const id = ports.cards.fingerprint([merchantAccount, realm, kind, by, String(windowSeconds), value]);
    return { id, max, totalMax: totalMaxOf(rule), windowSeconds };
  });
  const results = await ports.counters.count(reference, counters);
  const screened: ScreenedAttempt = { hit: undefined, declineCounts: [], attemptCounts: [] };
  counted.forEach(({ rule }, index) => {
    const [result, counter] = [results[index], counters[index]?.id];
    if (result === undefined || counter === undefined) throw new Error('broken invariant: a rule was not counted');
    // By the time it was read, the counter may have had room again.
    if (!result.counted) screened.hit ??= velocityHit(rule, result.used) ?? velocityHit(rule, fullOf(rule));
    else screened[rule.kind === 'declines' ? 'declineCounts' : 'attemptCounts'].push({ counter, slot: result.slot });
  });
  return screened;
}

function fullOf(rule: VelocityRule): Used {
  return { declines: 0, attempts: totalMaxOf(rule) };
}

function subjectsOf({ cards }: Pick<Ports, 'cards'>, { data }: CardholderCommand, card: Secret<CardData>): Subjects {
  // Without a customer, the address is the merchant's own.
  const ip = data.cofType === 'MIT' ? undefined : sourceKey(data.browserIp ?? data.customer.ip);
  return {
    ip,
    card: cards.panHash(card),
    bin: card.expose().pan.slice(0, BIN_LENGTH),
    email: data.customer.email.toLowerCase(),
    account: '',
  };
}

/** Takes an attempt back that was refused, or that no rule of its payment let begin. */
export function takeBack({ counters }: { counters: Counters }, reference: string, screened: ScreenedAttempt): void {
  counters.takeBack(reference, [...screened.declineCounts, ...screened.attemptCounts]);
}

/** Counts how an attempt ended, once its end is written. */
export function countEnd({ counters }: { counters: Counters }, event: PaymentEvent, payment: Payment): void {
  const end = endOf(event);
  if (end === undefined) return;
  const reference = referenceOf(event);
  const counts = reference === undefined ? undefined : findOperation(payment, reference)?.declineCounts;
  if (counts !== undefined) counters.end(counts, ADDED_AT_END[end]);
}

function referenceOf(event: PaymentEvent): string | undefined {
  if ('operation' in event) return event.operation.reference;
  return 'reference' in event ? event.reference : undefined;
}

function endOf({ type }: PaymentEvent): AttemptEnd | undefined {
  switch (type) {
    case 'OperationSucceeded':
      return 'approved';
    case 'OperationDeclined':
    case 'AuthenticationDeclined':
    // Only what was declined without a bank has counts; a refused attempt counts nowhere.
    case 'OperationRecorded':
      return 'declined';
    // No bank has approved anything yet: authentications are free, also to a card tester.
    case 'CardAuthenticated':
    case 'OperationFailed':
      return 'neither';
    default:
      return undefined;
  }
}
