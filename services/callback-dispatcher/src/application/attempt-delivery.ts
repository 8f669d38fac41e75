import type { CallbackError } from '@gateway/contracts';
import { maskCardNumbers } from '@gateway/contracts';
import type { NewSpan, Span } from '@gateway/service-kit';
import { inTrace } from '@gateway/service-kit';
import type { CallEnd } from '../domain/address-health';
import { callEnd } from '../domain/address-health';
import { whyUnacknowledged } from '../domain/acknowledgement';
import type { AttemptRecord, AttemptResult, DeliveryEvent } from '../domain/delivery';
import { decideAfterAttempt } from '../domain/delivery';
import { excerptOf } from '../domain/excerpt';
import { isFirstAttempt } from './first-attempt';
import { handBack } from './hand-back';
import type { Attempt, AttemptOutcome, Ports, StoredDelivery } from './ports';
import { attemptId } from './ports';
import { signDelivery } from './sign-delivery';

/** How long a replica holds a delivery: the wait in memory, then an attempt with its writes. */
export const LEASE_MS = 60_000;
/** An attempt takes at most 15 s and two writes. With less lease left, another replica could start one meanwhile. */
const ATTEMPT_BUDGET_MS = 25_000;

/** How the call ended; `none` if there was no call. */
export type AddressVerdict = { end: CallEnd; acknowledged: boolean } | 'none';

/**
 * Makes one attempt, stored before the call and after it: the first one with the delivery, whose insert has it on record,
 * any other in a document of its own. If this process dies in between, any replica tries again when the lease expires. The
 * same happens after it throws because the database or the accounts are unavailable.
 */
export async function attemptDelivery(ports: Ports, stored: StoredDelivery): Promise<AddressVerdict> {
  const { progress, correlationId } = stored;
  if (progress.state !== 'pending') return 'none';
  const isFirst = isFirstAttempt(stored);
  if (progress.claimableAt - ports.now() < ATTEMPT_BUDGET_MS) {
    // Its record must not stay: there has been no first attempt. Others just wait for the end of their lease.
    if (isFirst) await handBack(ports, stored);
    return 'none';
  }
  return inTrace(ports.tracer, { ...attemptOf(stored), correlationId }, async (span) => {
    const signed = await signDelivery(ports, stored);
    const startedAt = ports.now();
    const attempt = isFirst ? undefined : newAttempt(ports, stored, startedAt);
    if (attempt !== undefined) await ports.attempts.begin(attempt);
    const result = 'problem' in signed ? notSent(signed.problem) : await ports.post({ url: stored.url, ...signed });
    const reason = whyUnacknowledged(stored.kind, result);
    const acknowledged = reason === undefined;
    const ended = { endedAt: ports.now(), acknowledged, ...recordOf(result, reason) };
    await Promise.all([
      attempt && ports.attempts.end({ ...attempt, ...ended }),
      recordResult(ports, stored, result, acknowledged, isFirst ? { startedAt, ...ended } : undefined),
    ]);
    tell(span, result, outcomeOf(result, acknowledged));
    ports.figures.attempted(stored.kind, outcomeOf(result, acknowledged), result.durationMs);
    return 'problem' in signed ? 'none' : { end: callEnd(result), acknowledged };
  });
}

function recordOf(
  { durationMs, address, httpStatus, error, body }: AttemptResult,
  reason: CallbackError | undefined,
): Pick<AttemptRecord, 'durationMs' | 'address' | 'httpStatus' | 'error' | 'reason' | 'bodyStart'> {
  return {
    durationMs,
    ...(address === undefined ? {} : { address }),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(error === undefined ? {} : { error }),
    ...(reason === undefined ? {} : { reason }),
    ...(reason === undefined || body === undefined ? {} : { bodyStart: excerptOf(body) }),
  };
}

function newAttempt(ports: Pick<Ports, 'newId'>, { _id: deliveryId }: StoredDelivery, startedAt: number): Attempt {
  return { _id: attemptId(deliveryId, `${startedAt}-${ports.newId()}`), deliveryId, startedAt };
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

/** @param first the record of the attempt, if it belongs to the delivery */
async function recordResult(
  ports: Ports,
  stored: StoredDelivery,
  result: AttemptResult,
  acknowledged: boolean,
  first?: AttemptRecord,
): Promise<void> {
  const { written } = await ports.handle(stored, (current) => {
    // Another replica now has the delivery and counts its own attempt. Only an acknowledgement still counts.
    if (current.version !== stored.version && !acknowledged) return [];
    const context = { now: ports.now(), scheduleSeconds: ports.scheduleSeconds, random: ports.random() };
    const decided = decideAfterAttempt(current, result, context);
    return first === undefined ? decided : [{ type: 'FirstAttempted', attempt: first }, ...decided];
  });
  // A new version would discard what that replica's attempt comes to.
  if (first !== undefined && !written) await ports.deliveries.endFirst(stored._id, first);
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
