import { formatAmountE4 } from '@gateway/contracts';
import type { Payout } from '../domain/payout';

type Known = Pick<Payout, 'bankFacts' | 'feeE4' | 'currency'>;

interface Parameter {
  /** interface.md, optional custom parameters: what is outside its rule is left out. */
  rule: RegExp;
  value(known: Known): string | undefined;
}

const text = (maxLength: number): RegExp => new RegExp(`^[^]{1,${maxLength}}$`, 'u');
/** Banks write as much as they like. */
const REMARK_LENGTH = 200;
const digits = (maxLength: number): RegExp => new RegExp(`^\\d{1,${maxLength}}$`);
const NUMBER = /^\d+(\.\d{1,4})?$/;

/** Every custom parameter that the gateway can know of a payout. */
const PARAMETERS: Record<string, Parameter> = {
  custom_bank_advice: { rule: text(65_535), value: ({ bankFacts }) => bankFacts?.advice },
  custom_bank_id: { rule: digits(20), value: ({ bankFacts }) => bankFacts?.id },
  custom_bank_name: { rule: text(32), value: ({ bankFacts }) => bankFacts?.name },
  custom_bank_reason_code: { rule: text(45), value: ({ bankFacts }) => bankFacts?.reasonCode },
  custom_bank_reason_description: {
    rule: text(REMARK_LENGTH),
    value: ({ bankFacts }) => [...(bankFacts?.reasonDescription ?? '')].slice(0, REMARK_LENGTH).join(''),
  },
  custom_bank_transaction_id: { rule: text(255), value: ({ bankFacts }) => bankFacts?.transactionId },
  custom_fee_eur: {
    rule: NUMBER,
    value: ({ feeE4, currency }) => (currency === 'EUR' ? formatAmountE4(feeE4) : undefined),
  },
};

/** The activated parameters that have a value within their rule; undefined when there are none. */
export function customParameters(activated: readonly string[], payout: Known): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  for (const name of activated) {
    const parameter = PARAMETERS[name];
    const value = parameter?.value(payout);
    if (value !== undefined && parameter?.rule.test(value) === true) values[name] = value;
  }
  return Object.keys(values).length === 0 ? undefined : values;
}
