import type { Random } from '../random';
import { createRandom } from '../random';

const SERVICES = ['card-processing', 'payout', 'threeds', 'api-edge', 'auth-expiry', 'callback-dispatcher'] as const;
const EDGES_LEFT = ['card-processing', 'payout', 'threeds', 'auth-expiry', 'callback-dispatcher'] as const;
const GROUPS = EDGES_LEFT;
type Service = (typeof SERVICES)[number];
type Manner = 'slow' | 'silent' | 'lying' | 'dead';
type Unwell = 'failing' | 'hanging' | 'absent';

/** The kind of a fault, and its target. `replica`, `broker` and `half` are indexes. */
export type Fault =
  | { kind: 'replica killed' | 'replica terminated' | 'replica frozen'; service: Service; replica: number }
  | { kind: 'service away'; service: Service }
  | { kind: 'clock off'; service: Service; replica: number; offsetMs: number }
  | { kind: 'broker killed' | 'broker stopped' | 'broker frozen'; broker: number }
  | { kind: 'brokers rolled' | 'leaders moved' }
  | { kind: 'primary killed' | 'primary frozen' | 'primary stepped down' }
  | { kind: `acquirer ${Manner}` | `bank ${Manner}`; manner: Manner }
  | { kind: 'simulator killed' }
  | { kind: `receivers ${Unwell}`; half: number }
  | { kind: 'messages repeated' }
  | { kind: 'group rewound'; service: Service };

export type FaultKind = Fault['kind'];

/** `atMs` counts from the beginning of the faults. Rolls and moves have no fixed duration. */
export type PlannedFault = Fault & { atMs: number; durationMs: number };

type Draw = (random: Random) => { fault: Fault; durationMs: number };

const replica = (random: Random) => ({ service: random.pick(SERVICES), replica: random.int(0, 1) });
const lasting = (random: Random, min: number, max: number) => random.int(min, max) * 1_000;

function misbehaviour(counterpart: 'acquirer' | 'bank', manner: Manner): Draw {
  return (random) => ({
    fault: { kind: `${counterpart} ${manner}`, manner },
    durationMs: lasting(random, 4, 7),
  });
}

function unwell(how: Unwell): Draw {
  return (random) => ({
    fault: { kind: `receivers ${how}`, half: random.int(0, 1) },
    durationMs: lasting(random, 5, 8),
  });
}

/** Drawn in turn, one at a time. */
const IN_TURN: readonly Draw[] = [
  (random) => ({ fault: { kind: 'replica killed', ...replica(random) }, durationMs: 0 }),
  (random) => ({
    fault: { kind: 'replica killed', service: 'card-processing', replica: random.int(0, 1) },
    durationMs: 0,
  }),
  (random) => ({ fault: { kind: 'replica terminated', ...replica(random) }, durationMs: 0 }),
  (random) => ({
    fault: { kind: 'service away', service: random.pick(EDGES_LEFT) },
    durationMs: lasting(random, 2, 5),
  }),
  (random) => ({ fault: { kind: 'broker killed', broker: random.int(0, 2) }, durationMs: lasting(random, 5, 9) }),
  (random) => ({ fault: { kind: 'broker stopped', broker: random.int(0, 2) }, durationMs: lasting(random, 3, 6) }),
  (random) => ({ fault: { kind: 'broker frozen', broker: random.int(0, 2) }, durationMs: lasting(random, 6, 9) }),
  () => ({ fault: { kind: 'brokers rolled' }, durationMs: 0 }),
  () => ({ fault: { kind: 'leaders moved' }, durationMs: 0 }),
  (random) => ({ fault: { kind: 'primary killed' }, durationMs: lasting(random, 6, 9) }),
  (random) => ({ fault: { kind: 'primary frozen' }, durationMs: lasting(random, 6, 13) }),
  () => ({ fault: { kind: 'primary stepped down' }, durationMs: 0 }),
  ...(['slow', 'silent', 'lying', 'dead'] as const).flatMap((manner) => [
    misbehaviour('acquirer', manner),
    misbehaviour('bank', manner),
  ]),
  () => ({ fault: { kind: 'simulator killed' }, durationMs: 0 }),
  ...(['failing', 'hanging', 'absent'] as const).map(unwell),
  () => ({ fault: { kind: 'messages repeated' }, durationMs: 0 }),
  (random) => ({ fault: { kind: 'group rewound', service: random.pick(GROUPS) }, durationMs: 0 }),
];

/** Long faults beside all others: longer than leases, sessions, and clock margins. */
const BESIDE: readonly Draw[] = [
  (random) => ({ fault: { kind: 'replica frozen', ...replica(random) }, durationMs: lasting(random, 25, 35) }),
  (random) => ({
    fault: { kind: 'clock off', ...replica(random), offsetMs: random.pick([-30_000, 30_000]) },
    durationMs: lasting(random, 30, 45),
  }),
];

/** Between the end of one fault and the next: long enough to see how traffic recovers. */
const REST_MIN_MS = 5_000;
const REST_MAX_MS = 8_000;
/** Approximate duration of faults that end by themselves. */
const SELF_ENDING_MS = 4_000;
const PAIR_CHANCE = 0.15;
const PAIR_DELAY_MAX_MS = 2_000;
const BESIDE_EVERY_MS = 50_000;
const BESIDE_FIRST_MS = 12_000;

/** Which faults happen when, from the seed alone. Every kind comes once before any comes again. */
export function planFaults(seed: number, totalMs: number): PlannedFault[] {
  const random = createRandom(seed).fork('schedule');
  const planned = [...planInTurn(random.fork('in turn'), totalMs), ...planBeside(random.fork('beside'), totalMs)];
  return planned.sort((a, b) => a.atMs - b.atMs);
}

function planInTurn(random: Random, totalMs: number): PlannedFault[] {
  const planned: PlannedFault[] = [];
  let deck: Draw[] = [];
  let atMs = REST_MIN_MS;
  while (atMs < totalMs) {
    const isPair = planned.length > 0 && random.chance(PAIR_CHANCE);
    let endMs = atMs;
    for (let count = isPair ? 2 : 1; count > 0; count -= 1) {
      if (deck.length === 0) deck = random.shuffle(IN_TURN);
      const { fault, durationMs } = (deck.pop() as Draw)(random);
      const startMs = count === 2 ? atMs + random.int(0, PAIR_DELAY_MAX_MS) : atMs;
      planned.push({ ...fault, atMs: startMs, durationMs });
      endMs = Math.max(endMs, startMs + Math.max(durationMs, SELF_ENDING_MS));
    }
    atMs = endMs + random.int(REST_MIN_MS, REST_MAX_MS);
  }
  return planned;
}

function planBeside(random: Random, totalMs: number): PlannedFault[] {
  const planned: PlannedFault[] = [];
  let turn = random.int(0, BESIDE.length - 1);
  for (let atMs = BESIDE_FIRST_MS; atMs + BESIDE_EVERY_MS <= totalMs; atMs += BESIDE_EVERY_MS) {
    const { fault, durationMs } = (BESIDE[turn % BESIDE.length] as Draw)(random);
    planned.push({ ...fault, atMs, durationMs });
    turn += 1;
  }
  return planned;
}

/** One line for one fault. */
export function describeFault(fault: Fault): string {
  const { kind } = fault;
  const where = [
    'service' in fault ? ` ${fault.service}` : '',
    'replica' in fault ? ` ${fault.replica + 1}` : '',
    'broker' in fault ? ` ${fault.broker + 1}` : '',
    'offsetMs' in fault ? ` by ${fault.offsetMs} ms` : '',
  ];
  return kind + where.join('');
}
