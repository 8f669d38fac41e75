import { isValidBIC, isValidIBAN } from 'ibantools';
import type { BankAddresses } from '../../domain/payout-fields';

/** The structures of IBANs, with national check digits, and of BICs, from ibantools. */
export const isoBankAddresses: BankAddresses = {
  isIban: (iban) => isValidIBAN(iban),
  isBic: (bic) => isValidBIC(bic),
};
