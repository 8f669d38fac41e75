import type { Account } from '@gateway/accounts';
import { cardRulesFor } from '@gateway/accounts';
import type { CardholderCommand, Hit, Secret } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import { sourceKey } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Count, Payment, PaymentEvent } from '../domain/payment';
import { findOperation } from '../domain/payment';
import type { AttemptEnd, Subjects } from '../domain/velocity';
import { ADDED_AT_END, rulesOn, velocityHit } from '../domain/velocity';
import type { Counters, Ports } from './ports';

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
  const counters = counted.map(({ rule: { kind, by, max, windowSeconds }, value }) => ({
    id: ports.cards.fingerprint([merchantAccount, realm, kind, by, String(windowSeconds), value]),
    max,
    windowSeconds,
  }));
  const results = await ports.counters.count(reference, counters);
  const screened: ScreenedAttempt = { hit: undefined, declineCounts: [], attemptCounts: [] };
  counted.forEach(({ rule }, index) => {
    const [result, counter] = [results[index], counters[index]?.id];
    if (result === undefined || counter === undefined) throw new Error('broken invariant: a rule was not counted');
    if (!result.counted) screened.hit ??= velocityHit(rule, Math.max(result.used, rule.max));
    else screened[rule.kind === 'declines' ? 'declineCounts' : 'attemptCounts'].push({ counter, slot: result.slot });
  });
  return screened;
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

/** Corrects what counted as declined until now, once its end is written. */
export function countEnd({ counters }: { counters: Counters }, event: PaymentEvent, payment: Payment): void {
  const end = endOf(event);
  if (end === undefined || !('reference' in event)) return;
  const counts = findOperation(payment, event.reference)?.declineCounts;
  if (counts !== undefined) counters.add(counts, ADDED_AT_END[end]);
}

function endOf({ type }: PaymentEvent): AttemptEnd | undefined {
  switch (type) {
    case 'OperationSucceeded':
      return 'approved';
    // No bank has approved anything yet: authentications are free, also to a card tester.
    case 'CardAuthenticated':
    case 'OperationFailed':
      return 'neither';
    default:
      return undefined;
  }
}
