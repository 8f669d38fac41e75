import type { AddressHealth } from './address-health';
import { afterCall, callsAtOnce, isOpen, UNKNOWN_ADDRESS } from './address-health';

const NOW = 5_000_000;
const timeouts = (count: number): AddressHealth =>
  Array.from({ length: count }).reduce<AddressHealth>((health) => afterCall(health, true, NOW), UNKNOWN_ADDRESS);

describe('the health of an address', () => {
  it('lets one call through until it has answered once', () => {
    expect(callsAtOnce(UNKNOWN_ADDRESS, 4)).toBe(1);
    expect(callsAtOnce(afterCall(UNKNOWN_ADDRESS, false, NOW), 4)).toBe(4);
    expect(callsAtOnce(timeouts(1), 4)).toBe(1);
  });

  it('opens the circuit at the third time-out in a row, for 30 s', () => {
    expect(isOpen(timeouts(2), NOW)).toBe(false);
    expect(isOpen(timeouts(3), NOW)).toBe(true);
    expect(isOpen(timeouts(3), NOW + 29_999)).toBe(true);
    expect(isOpen(timeouts(3), NOW + 30_000)).toBe(false);
  });

  it('opens it again when the call after that times out', () => {
    expect(isOpen(afterCall(timeouts(3), true, NOW + 45_000), NOW + 60_000)).toBe(true);
  });

  it('forgets time-outs at the first answer', () => {
    const answered = afterCall(timeouts(3), false, NOW);
    expect(isOpen(answered, NOW)).toBe(false);
    expect(isOpen(afterCall(afterCall(answered, true, NOW), true, NOW), NOW)).toBe(false);
  });
});
