import type { Hit } from '@gateway/contracts';
import { RESPONSE_CODES, createScreen } from '@gateway/contracts';

/** A rule of an account, as the accounts library has it. */
export type VelocityRule = DeclinesRule | AttemptsRule;
type DeclinesRule = Measure & { readonly kind: 'declines' };
type AttemptsRule = Measure & { readonly kind: 'attempts' };

interface Measure {
  readonly by: Subject;
  readonly max: number;
  readonly windowSeconds: number;
}

export type Subject = 'ip' | 'card' | 'bin' | 'email' | 'account';

/** An attempt as the rules see it. Undefined if it has no such subject. */
export type Subjects = Readonly<Record<Subject, string | undefined>>;

/** What a rule has counted within its time. */
export interface Used {
  readonly declines: number;
  /** Cards that paid after declines, and were not paid back. */
  readonly paid: number;
  /** Other attempts: those under way if the rule is about declines, else all. */
  readonly attempts: number;
}

/**
 * How many attempts may be under way beyond the declines that a rule allows. Most of a shop's end as approvals, so they
 * are no declines yet; a tester's would otherwise all slip through together. Buyers do not share a card.
 */
const UNDER_WAY_MAX: Readonly<Record<Subject, number>> = { ip: 100, card: 0, bin: 100, email: 100, account: 100 };

/**
 * A shop where many buyers share an address has declines, too. Among them are many more cards that pay: so many make up
 * for a decline, each once, and none for a later one. An approval that takes no money makes up for nothing.
 */
export const PAID_CARDS_PER_DECLINE = 3;
/** A card of one's own does not make up for tests of another, nor for guesses at itself. */
const MADE_UP_FOR: Readonly<Record<Subject, boolean>> = {
  ip: true,
  card: false,
  bin: true,
  email: true,
  account: true,
};

const measures = createScreen<VelocityRule, Used>('card', {
  declines: {
    code: RESPONSE_CODES.ANTIFRAUD_DECLINE,
    reason(rule, used) {
      const declines = declinesLeft(rule, used);
      return (
        reasonOf(rule, { used: declines, max: rule.max, counted: 'declines' }) ??
        reasonOf(rule, {
          used: declines + used.attempts,
          max: totalMaxOf(rule),
          counted: 'declines and attempts under way',
        })
      );
    },
  },
  attempts: {
    code: RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED,
    reason: (rule, { attempts }) => reasonOf(rule, { used: attempts, max: rule.max, counted: 'attempts' }),
  },
});

/** Declines that no paying cards make up for. */
function declinesLeft({ by }: Measure, { declines, paid }: Used): number {
  return MADE_UP_FOR[by] ? declines - Math.floor(paid / PAID_CARDS_PER_DECLINE) : declines;
}

/** Whether cards that pay count for a rule. */
export function countsPayments({ kind, by }: VelocityRule): boolean {
  return kind === 'declines' && MADE_UP_FOR[by];
}

function reasonOf(
  { windowSeconds }: Measure,
  { used, max, counted }: { used: number; max: number; counted: string },
): string | undefined {
  return used < max ? undefined : `${used} ${counted} in ${windowSeconds} s, ${max} are allowed`;
}

/** How many attempts a rule allows in all, ended as declines or not. */
export function totalMaxOf({ kind, by, max }: VelocityRule): number {
  return kind === 'declines' ? max + UNDER_WAY_MAX[by] : max;
}

/**
 * The rules that count this attempt, in order, each with its subject's value.
 *
 * @throws Error for a rule with an unknown subject: nothing may pass because its rule was not understood.
 */
export function rulesOn(
  rules: readonly VelocityRule[],
  subjects: Subjects,
): { readonly rule: VelocityRule; readonly value: string }[] {
  return measures.inOrder(rules).flatMap((rule) => {
    if (!Object.hasOwn(subjects, rule.by)) throw new Error(`card rules by ${rule.by} are unknown`);
    const value = subjects[rule.by];
    return value === undefined ? [] : [{ rule, value }];
  });
}

/** Whether a rule refuses one more attempt, given what it has counted so far. Throws for an unknown kind. */
export function velocityHit(rule: VelocityRule, used: Used): Hit | undefined {
  const hit = measures.hit(rule, used);
  return hit && { ...hit, rule: `${rule.kind} by ${rule.by}` };
}

export type AttemptEnd = 'declined' | 'not-declined';
