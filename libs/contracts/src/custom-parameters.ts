const text = (maxLength: number): RegExp => new RegExp(`^[\\s\\S]{1,${maxLength}}$`, 'u');
const digits = (maxLength: number): RegExp => new RegExp(`^\\d{1,${maxLength}}$`);
/** Of `custom_bank_advice`. No other word of a bank that merchants are shown has more than 255 characters. */
export const BANK_ADVICE_LENGTH_MAX = 65_535;

const NUMBER = /^\d+(\.\d{1,4})?$/;

/** interface.md, "Optional custom response/callback parameters": all names in order, with the rule of each value. */
const RULES = {
  custom_bank_descriptor: text(255),
  custom_bank_advice: text(BANK_ADVICE_LENGTH_MAX),
  custom_bank_id: digits(20),
  custom_bank_name: text(32),
  custom_bank_reason_code: text(45),
  custom_bank_reason_description: text(200),
  custom_bank_transaction_id: text(255),
  custom_bank_user_address: text(255),
  custom_bank_user_city: text(255),
  custom_bank_user_country: text(255),
  custom_bank_user_first_name: text(255),
  custom_bank_user_id: text(255),
  custom_bank_user_last_name: text(255),
  custom_card_bank: text(255),
  custom_card_brand: text(255),
  custom_card_cardholder: text(255),
  custom_card_country: text(255),
  custom_card_hash: text(255),
  custom_card_bin: /^\d{6}$/,
  custom_card_country_iso3: /^[\s\S]{3}$/u,
  custom_card_last: /^\d{4}$/,
  custom_card_month: /^\d{2}$/,
  custom_card_year: /^\d{2}$/,
  custom_chargeback_base_amount: /^\d{1,14}\D\d{1,6}$/,
  custom_chargeback_base_amount_cny: NUMBER,
  custom_chargeback_base_amount_eur: NUMBER,
  custom_chargeback_base_amount_gbp: NUMBER,
  custom_chargeback_base_amount_uah: NUMBER,
  custom_chargeback_base_amount_usd: NUMBER,
  custom_chargeback_base_currency: text(10),
  custom_descriptor_merchant: NUMBER,
  custom_descriptor_phone: NUMBER,
  custom_fee_eur: NUMBER,
  custom_fee_gbp: NUMBER,
  custom_fee_uah: NUMBER,
  custom_fee_usd: NUMBER,
  custom_fee_rolling_reserve: NUMBER,
  custom_fee_info: text(65_535),
  custom_fraud_action: text(255),
  custom_fraud_decision: /^(accept|reject|manual)$/,
  custom_fraud_reject_reason: text(65_535),
  custom_fraud_score: digits(9),
  custom_mid_id: digits(20),
  custom_mid_name: text(64),
  custom_mid_reference: /^MD[0-9A-F]{14}$/,
  custom_next_billing_date: /^\d{8,}$/,
  custom_payment_account_id: digits(20),
  secure_storage_id: text(45),
  custom_user_first_name: text(255),
  custom_user_last_name: text(255),
  custom_user_phone: text(255),
} as const;

export type CustomParameter = keyof typeof RULES;

/** Name and rule of each, for documents. */
export const customParameterRules: readonly { readonly name: CustomParameter; readonly pattern: string }[] =
  Object.entries(RULES).map(([name, { source }]) => ({ name: name as CustomParameter, pattern: source }));

export const CUSTOM_PARAMETERS = Object.keys(RULES) as readonly CustomParameter[];

/** Facts about an operation or a payout, as values of custom parameters. */
export type CustomValues = Partial<Record<CustomParameter, string | undefined>>;

/** The activated parameters that have a valid value; undefined if there are none. Invalid values are left out. */
export function activatedValues(
  activated: readonly CustomParameter[],
  known: CustomValues,
): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  for (const name of activated) {
    const value = known[name];
    if (value !== undefined && RULES[name].test(value)) values[name] = value;
  }
  return Object.keys(values).length === 0 ? undefined : values;
}
