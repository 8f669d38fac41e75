import type { AddressHealth } from './address-health';
import { afterCall, callEnd, callsAtOnce, isOpen, reputationOf, UNKNOWN_ADDRESS } from './address-health';

const NOW = 5_000_000;
const timeouts = (count: number): AddressHealth =>
  Array.from({ length: count }).reduce<AddressHealth>((health) => afterCall(health, 'timed-out', NOW), UNKNOWN_ADDRESS);

describe('the end of a call', () => {
  it.each([
    [{ durationMs: 0 }, 'quick'],
    [{ durationMs: 1_000 }, 'quick'],
    [{ durationMs: 1_001 }, 'slow'],
    [{ durationMs: 300, timedOut: true }, 'timed-out'],
  ] as const)('%j is %s', (result, end) => {
    expect(callEnd(result)).toBe(end);
  });
});

describe('the health of an address', () => {
  it('lets one call through until it has answered once', () => {
    expect(callsAtOnce(UNKNOWN_ADDRESS, 4)).toBe(1);
    expect(callsAtOnce(afterCall(UNKNOWN_ADDRESS, 'quick', NOW), 4)).toBe(4);
    expect(callsAtOnce(afterCall(UNKNOWN_ADDRESS, 'slow', NOW), 4)).toBe(4);
    expect(callsAtOnce(timeouts(1), 4)).toBe(1);
  });

  it('is proven only by a quick last call', () => {
    expect(reputationOf(UNKNOWN_ADDRESS)).toBe('unproven');
    const quick = afterCall(UNKNOWN_ADDRESS, 'quick', NOW);
    expect(reputationOf(quick)).toBe('proven');
    expect(reputationOf(afterCall(quick, 'slow', NOW))).toBe('unproven');
    expect(reputationOf(afterCall(quick, 'timed-out', NOW))).toBe('unproven');
  });

  it('opens the circuit at the third time-out in a row, for 30 s', () => {
    expect(isOpen(timeouts(2), NOW)).toBe(false);
    expect(isOpen(timeouts(3), NOW)).toBe(true);
    expect(isOpen(timeouts(3), NOW + 29_999)).toBe(true);
    expect(isOpen(timeouts(3), NOW + 30_000)).toBe(false);
  });

  it('opens it again when the call after that times out', () => {
    expect(isOpen(afterCall(timeouts(3), 'timed-out', NOW + 45_000), NOW + 60_000)).toBe(true);
  });

  it('forgets time-outs at the first answer', () => {
    const answered = afterCall(timeouts(3), 'slow', NOW);
    expect(isOpen(answered, NOW)).toBe(false);
    const twice = afterCall(afterCall(answered, 'timed-out', NOW), 'timed-out', NOW);
    expect(isOpen(twice, NOW)).toBe(false);
  });
});
