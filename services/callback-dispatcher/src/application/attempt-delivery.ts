import { maskCardNumbers } from '@gateway/contracts';
import type { NewSpan, Span } from '@gateway/service-kit';
import { inTrace } from '@gateway/service-kit';
import type { CallEnd } from '../domain/address-health';
import { callEnd } from '../domain/address-health';
import { isAcknowledgement } from '../domain/callback';
import type { AttemptResult, DeliveryEvent } from '../domain/delivery';
import { decideAfterAttempt } from '../domain/delivery';
import type { AttemptOutcome, Ports, StoredDelivery } from './ports';
import { attemptId } from './ports';
import { signDelivery } from './sign-delivery';

/** How long a replica holds a delivery: the wait in memory, then an attempt with its writes. */
export const LEASE_MS = 60_000;
/** An attempt takes at most 15 s and two writes. With less lease left, another replica could start one meanwhile. */
const ATTEMPT_BUDGET_MS = 25_000;

/** How the call ended; `none` if there was no call. */
export type AddressVerdict = CallEnd | 'none';

/**
 * Makes one attempt, stored before the call and after it. If this process dies in between, any replica tries again when
 * the lease expires. The same happens after it throws because the database or the accounts are unavailable.
 */
export async function attemptDelivery(ports: Ports, stored: StoredDelivery): Promise<AddressVerdict> {
  const { progress } = stored;
  if (progress.state !== 'pending' || progress.claimableAt - ports.now() < ATTEMPT_BUDGET_MS) return 'none';
  const { correlationId } = stored;
  return inTrace(ports.tracer, { ...attemptOf(stored), correlationId }, async (span) => {
    const signed = await signDelivery(ports, stored);
    const startedAt = ports.now();
    const attempt = {
      _id: attemptId(stored._id, `${startedAt}-${ports.newId()}`),
      deliveryId: stored._id,
      startedAt,
    };
    await ports.attempts.begin(attempt);
    const result = 'problem' in signed ? notSent(signed.problem) : await ports.post({ url: stored.url, ...signed });
    const acknowledged = isAcknowledgement(stored.kind, result);
    const { body: answer, truncated: _truncated, timedOut: _timedOut, ...rest } = result;
    await Promise.all([
      ports.attempts.end({
        ...attempt,
        endedAt: ports.now(),
        acknowledged,
        ...rest,
        ...(answer === undefined ? {} : { answer }),
      }),
      recordResult(ports, stored, result, acknowledged),
    ]);
    tell(span, result, outcomeOf(result, acknowledged));
    ports.figures.attempted(stored.kind, outcomeOf(result, acknowledged), result.durationMs);
    return 'problem' in signed ? 'none' : callEnd(result);
  });
}

/** Of the address only the host, as the rest may be a secret of the merchant. A host may be anything, too. */
function attemptOf({ kind, url, merchantAccount, reference, attempts, traceparent }: StoredDelivery): NewSpan {
  return {
    name: `post ${kind} callback`,
    kind: 'client',
    parent: traceparent,
    attributes: {
      'http.request.method': 'POST',
      'server.address': maskCardNumbers(URL.parse(url)?.hostname ?? ''),
      'gateway.account': merchantAccount,
      'gateway.reference': reference,
      'gateway.attempt': attempts + 1,
    },
  };
}

function tell(span: Span, { httpStatus }: AttemptResult, outcome: AttemptOutcome): void {
  span.set({
    'gateway.answer': outcome,
    ...(httpStatus === undefined ? {} : { 'http.response.status_code': httpStatus }),
  });
  if (outcome !== 'acknowledged') span.fail(outcome);
}

function notSent(error: string): AttemptResult {
  return { error, durationMs: 0 };
}

async function recordResult(
  ports: Ports,
  stored: StoredDelivery,
  result: AttemptResult,
  acknowledged: boolean,
): Promise<void> {
  await ports.handle(stored, (current) => {
    // Another replica now has the delivery and counts its own attempt. Only an acknowledgement still counts.
    if (current.version !== stored.version && !acknowledged) return [];
    const context = { now: ports.now(), scheduleSeconds: ports.scheduleSeconds, random: ports.random() };
    return decideAfterAttempt(current, result, context);
  });
}

/** Counts how a delivery ended, and logs that an operator may have to act. */
export function reportEnd({ figures, logger }: Pick<Ports, 'figures' | 'logger'>) {
  return ({ type }: DeliveryEvent, { _id, kind, origin, attempts }: StoredDelivery): void => {
    if (type === 'Delivered') figures.ended(kind, 'delivered');
    if (type === 'Recovered') figures.ended(kind, 'recovered');
    if (type !== 'Exhausted') return;
    figures.ended(kind, 'exhausted');
    logger.warn('a callback is given up; an operator can send it again', { deliveryId: _id, origin, attempts });
  };
}

function outcomeOf(result: AttemptResult, acknowledged: boolean): AttemptOutcome {
  if (acknowledged) return 'acknowledged';
  if (result.timedOut === true) return 'timed_out';
  return result.httpStatus === undefined ? 'failed' : 'not_acknowledged';
}
