/** What the simulator keeps of a creditor's account. The name and the rest of the IBAN never get this far. */
export interface MaskedAccount {
  /** ISO 3166-1 alpha-2. */
  country: string;
  last4: string;
}

export function maskedAccount(iban: string): MaskedAccount {
  return { country: iban.slice(0, 2), last4: iban.slice(-4) };
}
