import type { CircuitLimits } from './circuit';
import { createCircuit } from './circuit';

const LIMITS: CircuitLimits = {
  unansweredPerParty: 5,
  unanswered: 10,
  probeEveryMs: 1_000,
  probesAtOnce: 2,
  parties: 100,
};

let now = 0;
const circuitOf = () => createCircuit(LIMITS, () => now);
type Circuit = ReturnType<typeof circuitOf>;
beforeEach(() => (now = 0));

/** Calls that start together and get no answer. */
function fail(circuit: Circuit, party: string, times: number): void {
  const calls = Array.from({ length: times }, () => circuit.admit(party));
  for (const call of calls) call?.end(false);
}

test('a party without answers is rejected, others are not', () => {
  const circuit = circuitOf();
  fail(circuit, 'a', 50);
  fail(circuit, 'a', 1);
  expect(circuit.refuses('a')).toBe(true);
  expect(circuit.openParties()).toBe(1);
  expect(circuit.isOpen()).toBe(false);
  expect(circuit.refuses('b')).toBe(false);
});

test('a counterpart that answers no party is closed to all', () => {
  const circuit = circuitOf();
  for (const party of ['a', 'b', 'c']) fail(circuit, party, 4);
  expect(circuit.isOpen()).toBe(true);
  for (const party of ['d', 'e']) expect(circuit.admit(party)).toBeDefined();
  expect(circuit.refuses('f')).toBe(true);
});

test('unanswered calls do not count while others are answered', () => {
  const circuit = circuitOf();
  const silent = Array.from({ length: 100 }, (_, index) => circuit.admit(`party${index % 20}`));
  circuit.admit('party0')?.end(true);
  for (const call of silent) call?.end(false);
  expect(circuit.isOpen()).toBe(false);
});

test("a party's circuit stays closed while some of its calls are answered", () => {
  const circuit = circuitOf();
  const silent = Array.from({ length: 100 }, () => circuit.admit('a'));
  circuit.admit('a')?.end(true);
  for (const call of silent) call?.end(false);
  expect(circuit.refuses('a')).toBe(false);
});

test("answers to others do not close a party's circuit", () => {
  const circuit = circuitOf();
  for (let count = 0; count < LIMITS.unansweredPerParty; count += 1) {
    fail(circuit, 'a', 1);
    circuit.admit('b')?.end(true);
  }
  fail(circuit, 'a', 1);
  expect(circuit.refuses('a')).toBe(true);
});

test('an open circuit lets a party probe periodically, one call at a time', () => {
  const circuit = circuitOf();
  fail(circuit, 'a', 5);
  const probe = circuit.admit('a');
  expect(probe).toBeDefined();
  now = LIMITS.probeEveryMs;
  expect(circuit.admit('a')).toBeUndefined();
  probe?.end(false);
  expect(circuit.admit('a')).toBeDefined();
  expect(circuit.admit('a')).toBeUndefined();
});

test('the first answer closes it for all', () => {
  const circuit = circuitOf();
  for (const party of ['a', 'b']) fail(circuit, party, 5);
  expect(circuit.isOpen()).toBe(true);
  circuit.admit('c')?.end(true);
  expect(circuit.isOpen()).toBe(false);
  expect(circuit.refuses('d')).toBe(false);
});

test('the least recently used parties are evicted', () => {
  const circuit = circuitOf();
  fail(circuit, 'a', 5);
  for (let index = 0; index < LIMITS.parties; index += 1) circuit.admit(`other${index}`)?.end(true);
  expect(circuit.openParties()).toBe(0);
});
