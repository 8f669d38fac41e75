import { REPUTATIONS } from './address-health';
import type { PlaceLimits, Places } from './fair-share';
import { freePlaces, placesLeft } from './fair-share';

const NONE: Places = { proven: 0, unproven: 0 };
const LIMITS: PlaceLimits = { total: 100, perMerchant: 30, unprovenPerMerchant: 8 };

describe('the places of a merchant', () => {
  it('are bounded, with fewer for addresses that may hang', () => {
    expect(placesLeft('proven', NONE, NONE, LIMITS)).toBe(30);
    expect(placesLeft('unproven', NONE, NONE, LIMITS)).toBe(8);
    const own = { proven: 20, unproven: 8 };
    expect(placesLeft('proven', own, own, LIMITS)).toBe(2);
    expect(placesLeft('unproven', own, own, LIMITS)).toBe(0);
  });

  it('for proven addresses are not taken by hanging ones', () => {
    const own = { proven: 0, unproven: 8 };
    expect(placesLeft('proven', own, own, LIMITS)).toBe(22);
  });

  it('are never more than remain for the others', () => {
    const all = { proven: 80, unproven: 0 };
    expect(placesLeft('proven', NONE, all, LIMITS)).toBe(10);
    expect(placesLeft('proven', { proven: 10, unproven: 0 }, all, LIMITS)).toBe(5);
    expect(placesLeft('proven', { proven: 20, unproven: 0 }, all, LIMITS)).toBe(0);
  });

  it('are none if none is free', () => {
    expect(placesLeft('proven', NONE, { proven: 100, unproven: 0 }, LIMITS)).toBe(0);
    expect(placesLeft('unproven', NONE, { proven: 100, unproven: 0 }, LIMITS)).toBe(0);
  });
});

describe('addresses that may hang', () => {
  it('get half of all places together', () => {
    const all = { proven: 0, unproven: 50 };
    expect(freePlaces('unproven', all, LIMITS)).toBe(0);
    expect(placesLeft('unproven', NONE, all, LIMITS)).toBe(0);
    expect(placesLeft('proven', NONE, all, LIMITS)).toBe(25);
  });

  it('get no more than the free places', () => {
    expect(freePlaces('unproven', { proven: 90, unproven: 0 }, LIMITS)).toBe(10);
  });
});

it.each(REPUTATIONS)('a merchant that takes all it can get leaves as many for the others (%s)', (reputation) => {
  const all = { ...NONE };
  const taken = Array.from({ length: 6 }, () => {
    const own = { ...NONE };
    while (placesLeft(reputation, own, all, LIMITS) > 0) {
      own[reputation] += 1;
      all[reputation] += 1;
    }
    expect(own[reputation]).toBeLessThanOrEqual(freePlaces(reputation, all, LIMITS) + 1);
    return own[reputation];
  });
  expect(Math.min(...taken)).toBeGreaterThan(0);
});
