import type { Registry } from '@gateway/service-kit';
import { Counter, fromZero, Gauge, Histogram } from '@gateway/service-kit';
import type { Bulkhead, BulkheadLimits, PartyFigures } from './bulkhead';
import type { Circuit } from './circuit';

/** Parties shown per lane: those with the most calls under way and waiting. */
const PARTIES_SHOWN = 10;

/** What the gauges read of one policy. */
interface Observed {
  readonly labels: { counterpart: string; lane: string };
  readonly limits: Pick<BulkheadLimits, 'atOnce'>;
  readonly bulkhead: Bulkhead;
  readonly circuit: Circuit;
}

const LANE = ['counterpart', 'lane'] as const;
const REASONS = ['circuit-open', 'bulkhead-full', 'waited-too-long', 'too-late'] as const;

export type OutboundMetrics = ReturnType<typeof register>;

const registered = new WeakMap<Registry, OutboundMetrics>();

/** Metrics of outbound calls. The first policy of a registry registers them, the others share them. */
export function outboundMetrics(registry: Registry): OutboundMetrics {
  const metrics = registered.get(registry) ?? register(registry);
  registered.set(registry, metrics);
  return metrics;
}

function register(registry: Registry) {
  const policies: Observed[] = [];
  const registers = [registry];

  function gauge(name: string, help: string, value: (policy: Observed) => number): void {
    new Gauge({
      name: `gateway_outbound_${name}`,
      help,
      labelNames: LANE,
      registers,
      collect() {
        for (const policy of policies) this.set(policy.labels, value(policy));
      },
    });
  }

  gauge('in_use', 'Calls to a counterpart under way', ({ bulkhead }) => bulkhead.inUse());
  gauge('places', 'Calls to a counterpart that may be under way at once', ({ limits }) => limits.atOnce);
  gauge('waiting', 'Calls waiting for a place', ({ bulkhead }) => bulkhead.waiting());
  gauge('circuit_open', '1 while the circuit is open for all accounts', ({ circuit }) => Number(circuit.isOpen()));
  gauge('open_parties', 'Accounts whose own circuit is open', ({ circuit }) => circuit.openParties());
  new Gauge({
    name: 'gateway_outbound_party_calls',
    help: `Calls under way and waiting, for the ${PARTIES_SHOWN} accounts with the most`,
    labelNames: [...LANE, 'party'],
    registers,
    collect() {
      this.reset();
      for (const { labels, bulkhead } of policies) {
        for (const busy of busiest(bulkhead)) this.set({ ...labels, party: busy.party }, total(busy));
      }
    },
  });

  const refused = new Counter({
    name: 'gateway_outbound_refused_total',
    help: `Calls that were not made: ${REASONS.join(', ')}`,
    labelNames: [...LANE, 'reason'],
    registers,
  });

  return {
    seconds: new Histogram({
      name: 'gateway_outbound_call_seconds',
      help: 'Calls to a counterpart, by operation and kind of answer, without the wait for a place',
      labelNames: [...LANE, 'operation', 'answer'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    refused,
    observe(policy: Observed): void {
      policies.push(policy);
      const { counterpart, lane } = policy.labels;
      fromZero(refused, { counterpart: [counterpart], lane: [lane], reason: REASONS });
    },
  };
}

const total = ({ inUse, waiting }: PartyFigures): number => inUse + waiting;

function busiest(bulkhead: Bulkhead): PartyFigures[] {
  return [...bulkhead.parties()].sort((a, b) => total(b) - total(a)).slice(0, PARTIES_SHOWN);
}
