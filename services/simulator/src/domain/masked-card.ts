/** All that the simulator keeps of a card. The number, CVV and holder are dropped when the request is read. */
export interface MaskedCard {
  brand: 'visa' | 'mastercard' | 'amex' | 'other';
  last4: string;
}

export function maskedCard(pan: string): MaskedCard {
  return { brand: brandOf(pan), last4: pan.slice(-4) };
}

function brandOf(pan: string): MaskedCard['brand'] {
  if (pan.startsWith('4')) return 'visa';
  if (/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(pan)) return 'mastercard';
  return /^3[47]/.test(pan) ? 'amex' : 'other';
}
