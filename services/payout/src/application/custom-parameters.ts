import type { CustomValues } from '@gateway/contracts';
import { formatAmountE4 } from '@gateway/contracts';
import type { Payout } from '../domain/payout';

/** The interface's limit. Banks have none. */
const REMARK_LENGTH = 200;

/** The custom parameters that the gateway can supply for a payout. */
export function customValues({
  bankFacts = {},
  feeE4,
  currency,
}: Pick<Payout, 'bankFacts' | 'feeE4' | 'currency'>): CustomValues {
  return {
    custom_bank_advice: bankFacts.advice,
    custom_bank_id: bankFacts.id,
    custom_bank_name: bankFacts.name,
    custom_bank_reason_code: bankFacts.reasonCode,
    custom_bank_reason_description: bankFacts.reasonDescription && firstOf(bankFacts.reasonDescription, REMARK_LENGTH),
    custom_bank_transaction_id: bankFacts.transactionId,
    custom_fee_eur: currency === 'EUR' ? formatAmountE4(feeE4) : undefined,
  };
}

/** Whole characters. */
function firstOf(text: string, length: number): string {
  return [...text].slice(0, length).join('');
}
