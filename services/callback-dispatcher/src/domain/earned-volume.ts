/** What an address may be sent: see ADR 0075. */
export interface Volume {
  /** Deliveries that its acknowledgements have earned, and that are not taken. */
  earned: number;
  /** Deliveries taken from what strangers share. */
  borrowed: number;
}

/** `unused`: no call was made. `failed`: a call was made, or may have been, and nobody acknowledged it. */
export type VolumeUse = 'unused' | 'acknowledged' | 'failed';

/** More than an address can have in memory, so that it never limits one that acknowledges. */
export const EARNED_MAX = 128;

/** An address earns two deliveries with each that it acknowledges: its volume doubles with every round trip. */
const EARNED_BY_ACKNOWLEDGEMENT = 2;

export function unknownVolume(): Volume {
  return { earned: 0, borrowed: 0 };
}

/**
 * The volume after the use of one taken delivery, and whether what it borrowed goes back to the strangers' share. A
 * failure halves what was earned: an address that changes hands loses it within a few calls.
 */
export function afterUse({ earned, borrowed }: Volume, use: VolumeUse): { volume: Volume; returned: boolean } {
  const wasBorrowed = borrowed > 0;
  const left = wasBorrowed ? borrowed - 1 : 0;
  const returned = wasBorrowed && use !== 'failed';
  switch (use) {
    case 'unused':
      return { volume: { earned: wasBorrowed ? earned : earned + 1, borrowed: left }, returned };
    case 'failed':
      return { volume: { earned: Math.floor(earned / 2), borrowed: left }, returned };
    case 'acknowledged': {
      const gained = wasBorrowed ? EARNED_BY_ACKNOWLEDGEMENT - 1 : EARNED_BY_ACKNOWLEDGEMENT;
      return { volume: { earned: Math.min(EARNED_MAX, earned + gained), borrowed: left }, returned };
    }
  }
}
