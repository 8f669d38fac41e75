import { whyUnacknowledged } from '../domain/acknowledgement';
import type { CallbackKind } from '../domain/callback';
import type { AttemptRecord } from '../domain/delivery';
import { excerptOf } from '../domain/excerpt';

/**
 * What merchants and operators read of an attempt that was not acknowledged; nothing of another one. A release before
 * `reason` has stored no more than the answer.
 */
export function failureOf(kind: CallbackKind, attempt: AttemptRecord): Pick<AttemptRecord, 'reason' | 'bodyStart'> {
  const { acknowledged, reason, bodyStart, answer } = attempt;
  if (acknowledged !== false) return {};
  const why = reason ?? whyUnacknowledged(kind, { ...attempt, ...(answer === undefined ? {} : { body: answer }) });
  const start = bodyStart ?? (answer === undefined ? undefined : excerptOf(answer));
  return {
    ...(why === undefined ? {} : { reason: why }),
    ...(start === undefined ? {} : { bodyStart: start }),
  };
}
