import { isValidBIC, isValidIBAN } from 'ibantools';
import type { BankAddresses } from '../../domain/payout-fields';

/** The registries of IBAN structures and of BICs, national check digits included, as ibantools has them. */
export const isoBankAddresses: BankAddresses = {
  isIban: (iban) => isValidIBAN(iban),
  isBic: (bic) => isValidBIC(bic),
};
