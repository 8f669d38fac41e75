import type { Registry } from '@gateway/service-kit';
import type { BulkheadLimits, Place } from './bulkhead';
import { createBulkhead } from './bulkhead';
import type { Circuit } from './circuit';
import type { CallFault, Refusal } from './faults';
import { transportFaultOf } from './faults';
import { outboundMetrics } from './metrics';

/** Half of the places at most for one account, and as many again may wait. */
export function lane(atOnce: number, waitMs: number): BulkheadLimits {
  const half = Math.max(1, Math.floor(atOnce / 2));
  return { atOnce, atOncePerParty: half, waiting: 2 * atOnce, waitingPerParty: half, waitMs };
}

/**
 * One call. `Response` is what the transport gives; `Answer` what the caller makes of it, whose `kind` is the metric's
 * label and must come from a small fixed set.
 */
export interface OutboundCall<Response, Answer extends { kind: string }> {
  /** Who shares the places: the merchant's account. */
  party: string;
  /** From a small fixed set, for the metrics. */
  operation: string;
  /** A place taken with `tryEnter`. The policy leaves it. */
  place?: Place | undefined;
  /** Makes the request, within its own time-out. */
  send(): Promise<Response>;
  read(response: Response): Answer;
  /** What it means that there is no answer. */
  onFault(fault: CallFault): Answer;
}

/** What stands around every call to a counterpart: circuit breaker, bulkhead, metrics, and names for what goes wrong. */
export interface CallPolicy {
  /** Throws only what `read` or `onFault` throws. */
  call<Response, Answer extends { kind: string }>(call: OutboundCall<Response, Answer>): Promise<Answer>;
  /** A place for a call that begins now; undefined when the party would have to wait. */
  tryEnter(party: string): Place | undefined;
  /** Calls that the party could begin now. */
  room(party: string): number;
  readonly limits: BulkheadLimits;
}

/**
 * @param options.lane work that shares places: what is in one lane never waits for another
 * @param options.circuit shared by all lanes of a counterpart: an answer to any call shows that it is alive
 */
export function createCallPolicy(options: {
  counterpart: string;
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
  metrics.observe({ labels, bulkhead, circuit });

  function refuse(reason: Refusal): Refusal {
    metrics.refused.inc({ ...labels, reason });
    return reason;
  }

  async function inPlace<R, A extends { kind: string }>(call: OutboundCall<R, A>, place: Place): Promise<A> {
    const admission = circuit.admit(call.party);
    if (admission === undefined) {
      place.leave();
      return call.onFault(refuse('circuit-open'));
    }
    const observe = metrics.seconds.startTimer({ ...labels, operation: call.operation });
    const sent = await outcomeOf(call);
    admission.end('response' in sent);
    place.leave();
    const answer = 'response' in sent ? call.read(sent.response) : call.onFault(sent.fault);
    observe({ answer: answer.kind });
    return answer;
  }

  return {
    limits,
    tryEnter: (party) => bulkhead.tryEnter(party),
    room: (party) => bulkhead.room(party),
    async call(call) {
      if (call.place !== undefined) return inPlace(call, call.place);
      // Nobody waits for a place only to be refused.
      if (circuit.refuses(call.party)) return call.onFault(refuse('circuit-open'));
      const place = bulkhead.tryEnter(call.party) ?? (await bulkhead.enter(call.party));
      return typeof place === 'string' ? call.onFault(refuse(place)) : inPlace(call, place);
    },
  };
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
