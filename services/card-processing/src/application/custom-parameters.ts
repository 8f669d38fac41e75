import type { Customer, MerchantNotes } from '@gateway/contracts';
import type { Secret } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { Operation, Payment } from '../domain/payment';

/** What may be shown of a card and its holder: first six and last four digits at most. */
export interface CardPresentation {
  bin: string;
  last4: string;
  /** '01' to '12'. */
  month: string;
  /** Two digits. */
  year: string;
  brand: string;
  holder: string;
  panHash: string;
  firstName: string;
  lastName: string;
  phone?: string;
  descriptor?: string;
  descriptorPhone?: string;
}

export function presentationOf(
  card: Secret<CardData>,
  known: { brand: string; panHash: string; customer: Customer; notes: MerchantNotes },
): CardPresentation {
  const { pan, expMonth, expYear, holder } = card.expose();
  const { customer, notes } = known;
  return {
    bin: pan.slice(0, 6),
    last4: pan.slice(-4),
    month: expMonth,
    year: expYear.slice(-2),
    brand: known.brand,
    holder,
    panHash: known.panHash,
    firstName: customer.firstName,
    lastName: customer.lastName,
    ...(customer.phone === undefined ? {} : { phone: customer.phone }),
    ...(notes.descriptor === undefined ? {} : { descriptor: notes.descriptor }),
    ...(notes.descriptorPhone === undefined ? {} : { descriptorPhone: notes.descriptorPhone }),
  };
}

interface Known {
  payment: Payment & { presentation?: CardPresentation };
  operation: Operation;
}

interface Parameter {
  /** interface.md, optional custom parameters: what is outside its rule is left out. */
  rule: RegExp;
  value(known: Known): string | undefined;
}

const text = (maxLength: number): RegExp => new RegExp(`^[^]{1,${maxLength}}$`, 'u');
const digits = (maxLength: number): RegExp => new RegExp(`^\\d{1,${maxLength}}$`);
const NUMBER = /^\d+(\.\d{1,4})?$/;

/** Every custom parameter that the gateway can know. The others of the interface's table are left out. */
const PARAMETERS: Record<string, Parameter> = {
  custom_bank_descriptor: { rule: text(255), value: ({ operation }) => operation.bank?.descriptor },
  custom_bank_advice: { rule: text(65_535), value: ({ operation }) => operation.bank?.advice },
  custom_bank_id: { rule: digits(20), value: ({ operation }) => operation.bank?.id },
  custom_bank_name: { rule: text(32), value: ({ operation }) => operation.bank?.name },
  custom_bank_reason_code: { rule: text(45), value: ({ operation }) => operation.bank?.reasonCode },
  custom_bank_reason_description: { rule: text(200), value: ({ operation }) => operation.bank?.reasonDescription },
  custom_bank_transaction_id: { rule: text(255), value: ({ operation }) => operation.bank?.transactionId },
  custom_card_brand: { rule: text(255), value: ({ payment }) => payment.presentation?.brand },
  custom_card_cardholder: { rule: text(255), value: ({ payment }) => payment.presentation?.holder },
  custom_card_hash: { rule: text(255), value: ({ payment }) => payment.presentation?.panHash },
  custom_card_bin: { rule: /^\d{6}$/, value: ({ payment }) => payment.presentation?.bin },
  custom_card_last: { rule: /^\d{4}$/, value: ({ payment }) => payment.presentation?.last4 },
  custom_card_month: { rule: /^\d{2}$/, value: ({ payment }) => payment.presentation?.month },
  custom_card_year: { rule: /^\d{2}$/, value: ({ payment }) => payment.presentation?.year },
  custom_descriptor_merchant: { rule: NUMBER, value: ({ payment }) => payment.presentation?.descriptor },
  custom_descriptor_phone: { rule: NUMBER, value: ({ payment }) => payment.presentation?.descriptorPhone },
  custom_mid_id: { rule: digits(20), value: ({ payment }) => payment.route?.midId },
  custom_mid_name: { rule: text(64), value: ({ payment }) => payment.route?.midName },
  custom_mid_reference: { rule: /^MD[0-9A-F]{14}$/, value: ({ payment }) => payment.route?.midReference },
  secure_storage_id: { rule: text(45), value: ({ payment }) => payment.presentation?.panHash },
  custom_user_first_name: { rule: text(255), value: ({ payment }) => payment.presentation?.firstName },
  custom_user_last_name: { rule: text(255), value: ({ payment }) => payment.presentation?.lastName },
  custom_user_phone: { rule: text(255), value: ({ payment }) => payment.presentation?.phone },
};

/** The activated parameters that have a value within their rule; undefined when there are none. */
export function customParameters(
  activated: readonly string[],
  payment: Known['payment'],
  operation: Operation,
): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  for (const name of activated) {
    const parameter = PARAMETERS[name];
    const value = parameter?.value({ payment, operation });
    if (value !== undefined && parameter?.rule.test(value) === true) values[name] = value;
  }
  return Object.keys(values).length === 0 ? undefined : values;
}
