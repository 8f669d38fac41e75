import type { NewSpan, Registry } from '@gateway/service-kit';
import { failSpan, inSpan } from '@gateway/service-kit';
import type { BulkheadLimits, Place } from './bulkhead';
import { createBulkhead } from './bulkhead';
import type { Circuit } from './circuit';
import type { CallFault, Refusal } from './faults';
import { transportFaultOf } from './faults';
import { outboundMetrics } from './metrics';

/** One account gets at most half of the places, and as many calls of it may wait. */
export function lane(atOnce: number, waitMs: number): BulkheadLimits {
  const half = Math.max(1, Math.floor(atOnce / 2));
  return { atOnce, atOncePerParty: half, waiting: 2 * atOnce, waitingPerParty: half, waitMs };
}

/**
 * One call. `Response` comes from the transport; `Answer` is the caller's reading of it. Its `kind` is a label of the
 * metric and must come from a small fixed set.
 */
export interface OutboundCall<Response, Answer extends { kind: string }> {
  /** The merchant's account; accounts share the places. */
  party: string;
  /** Label of the metric, from a small fixed set. */
  operation: string;
  /** A place from `tryEnter`. The policy frees it. */
  place?: Place | undefined;
  /**
   * The answer of a call that must not be made any more; undefined while it may be. Asked immediately before `send`, when
   * the call has its place.
   */
  lateAnswer?: (() => Answer | undefined | Promise<Answer | undefined>) | undefined;
  /** Makes the request, with a time-out. */
  send(): Promise<Response>;
  read(response: Response): Answer;
  /** The answer that represents a fault. */
  onFault(fault: CallFault): Answer;
}

/** Wraps every call to a counterpart: circuit breaker, bulkhead, metrics and fault names. */
export interface CallPolicy {
  /** Throws only what `lateAnswer`, `read` or `onFault` throws. */
  call<Response, Answer extends { kind: string }>(call: OutboundCall<Response, Answer>): Promise<Answer>;
  /** A place for a call that starts now; undefined if the party would have to wait. */
  tryEnter(party: string): Place | undefined;
  /** Number of calls the party could start now. */
  room(party: string): number;
  readonly limits: BulkheadLimits;
}

/**
 * @param options.lane label of the work that shares these places; lanes never wait for each other
 * @param options.host of the counterpart, for traces
 * @param options.circuit shared by all lanes of a counterpart, since any answer shows that it is alive
 */
export function createCallPolicy(options: {
  counterpart: string;
  host?: string | undefined;
  lane: string;
  limits: BulkheadLimits;
  circuit: Circuit;
  metrics: Registry;
  now?: () => number;
}): CallPolicy {
  const { limits, circuit } = options;
  const labels = { counterpart: options.counterpart, lane: options.lane };
  const bulkhead = createBulkhead(limits, options.now);
  const metrics = outboundMetrics(options.metrics);
  metrics.observe({ labels, limits, bulkhead, circuit });

  function spanOf(operation: string): NewSpan {
    const host = options.host === undefined ? {} : { 'server.address': options.host };
    const attributes = { 'gateway.counterpart': labels.counterpart, 'gateway.lane': labels.lane, ...host };
    return { name: `${labels.counterpart} ${operation}`, kind: 'client', attributes };
  }

  function refuse(reason: Refusal): Refusal {
    metrics.refused.inc({ ...labels, reason });
    failSpan(reason);
    return reason;
  }

  async function inPlace<R, A extends { kind: string }>(call: OutboundCall<R, A>, place: Place): Promise<A> {
    const late = call.lateAnswer === undefined ? undefined : await orLeave(call.lateAnswer, place);
    if (late !== undefined) {
      place.leave();
      metrics.refused.inc({ ...labels, reason: 'too-late' });
      return late;
    }
    const admission = circuit.admit(call.party);
    if (admission === undefined) {
      place.leave();
      return call.onFault(refuse('circuit-open'));
    }
    const observe = metrics.seconds.startTimer({ ...labels, operation: call.operation });
    const answer = await inSpan(spanOf(call.operation), async (span) => {
      const sent = await outcomeOf(call);
      admission.end('response' in sent);
      place.leave();
      const understood = 'response' in sent ? call.read(sent.response) : call.onFault(sent.fault);
      span.set({ 'gateway.answer': understood.kind });
      if ('fault' in sent) span.fail(sent.fault);
      else if (understood.kind === 'unknown') span.fail(understood.kind);
      return understood;
    });
    observe({ answer: answer.kind });
    return answer;
  }

  return {
    limits,
    tryEnter: (party) => bulkhead.tryEnter(party),
    room: (party) => bulkhead.room(party),
    async call(call) {
      if (call.place !== undefined) return inPlace(call, call.place);
      // Fail now rather than after waiting for a place.
      if (circuit.refuses(call.party)) return call.onFault(refuse('circuit-open'));
      const place = bulkhead.tryEnter(call.party) ?? (await bulkhead.enter(call.party));
      return typeof place === 'string' ? call.onFault(refuse(place)) : inPlace(call, place);
    },
  };
}

async function orLeave<T>(ask: () => T | Promise<T>, place: Place): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    place.leave();
    throw error;
  }
}

async function outcomeOf<R>(
  call: Pick<OutboundCall<R, never>, 'send'>,
): Promise<{ response: R } | { fault: CallFault }> {
  try {
    return { response: await call.send() };
  } catch (error) {
    return { fault: transportFaultOf(error) };
  }
}
