import type { MaskedCard } from '../masked-card';

/** Electronic commerce indicators, by scheme: Mastercard counts in its own way. */
export function eciOf(outcome: 'authenticated' | 'attempted', brand: MaskedCard['brand']): string {
  if (brand === 'mastercard') return outcome === 'authenticated' ? '02' : '01';
  return outcome === 'authenticated' ? '05' : '06';
}

/** Nothing was authenticated, nor was it attempted. */
export const ECI_FAILED = '07';
