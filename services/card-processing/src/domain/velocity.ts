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

const measures = createScreen<VelocityRule, number>('card', {
  declines: {
    code: RESPONSE_CODES.ANTIFRAUD_DECLINE,
    reason: (rule, used) => reasonOf(rule, used, 'more declines than approvals'),
  },
  attempts: {
    code: RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED,
    reason: (rule, used) => reasonOf(rule, used, 'attempts'),
  },
});

function reasonOf({ max, windowSeconds }: Measure, used: number, counted: string): string | undefined {
  return used < max ? undefined : `${used} ${counted} in ${windowSeconds} s, ${max} are allowed`;
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

/** Whether a rule refuses one more attempt, given its count so far. Throws for an unknown kind. */
export function velocityHit(rule: VelocityRule, used: number): Hit | undefined {
  const hit = measures.hit(rule, used);
  return hit && { ...hit, rule: `${rule.kind} by ${rule.by}` };
}

/** How an attempt that counted as declined ended otherwise: an approval makes up for a decline. */
export type AttemptEnd = 'approved' | 'neither';

/** What the end adds to the declines. While an attempt has no end it counts as declined, so that none slip through at once. */
export const ADDED_AT_END: Readonly<Record<AttemptEnd, number>> = { approved: -2, neither: -1 };
