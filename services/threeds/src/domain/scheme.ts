import type { Scheme } from './authentication';

/** For a failed authentication, in every scheme. */
export const ECI_FAILED = 7;

/** decisions.md, section 3. Merchants get the ECI of this table, not the directory server's own. */
const ECI: Readonly<Record<Scheme, { authenticated: number; attempted: number }>> = {
  mastercard: { authenticated: 2, attempted: 1 },
  other: { authenticated: 5, attempted: 6 },
};

export function eciOf(scheme: Scheme, outcome: 'authenticated' | 'attempted'): number {
  return ECI[scheme][outcome];
}

/** Mastercard's account ranges, by first digits. */
const MASTERCARD_FROM_TO = [
  ['51', '55'],
  ['2221', '2720'],
] as const;

export function schemeOf(cardNumber: string): Scheme {
  const isMastercard = MASTERCARD_FROM_TO.some(([from, to]) => {
    const start = cardNumber.slice(0, from.length);
    return start >= from && start <= to;
  });
  return isMastercard ? 'mastercard' : 'other';
}
