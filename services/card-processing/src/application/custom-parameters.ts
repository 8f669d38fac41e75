import type { Customer, CustomValues, MerchantNotes, Secret } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import type { BankFacts, CardPresentation, Operation, Payment, Route } from '../domain/payment';

export function presentationOf(
  card: Secret<CardData>,
  known: { brand: string; storageId: string; customer: Customer; notes: MerchantNotes },
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
    storageId: known.storageId,
    panHash: known.storageId,
    firstName: customer.firstName,
    lastName: customer.lastName,
    ...(customer.phone === undefined ? {} : { phone: customer.phone }),
    ...(notes.descriptor === undefined ? {} : { descriptor: notes.descriptor }),
    ...(notes.descriptorPhone === undefined ? {} : { descriptorPhone: notes.descriptorPhone }),
  };
}

/** The custom parameters that the gateway can supply. It omits the others of the interface's table. */
export function customValues({ presentation, route }: Payment, { bank }: Operation): CustomValues {
  return { ...ofBank(bank), ...ofRoute(route), ...(presentation === undefined ? {} : ofCard(presentation)) };
}

function ofBank(bank: BankFacts = {}): CustomValues {
  return {
    custom_bank_descriptor: bank.descriptor,
    custom_bank_advice: bank.advice,
    custom_bank_id: bank.id,
    custom_bank_name: bank.name,
    custom_bank_reason_code: bank.reasonCode,
    custom_bank_reason_description: bank.reasonDescription,
    custom_bank_transaction_id: bank.transactionId,
  };
}

function ofRoute(route: Route | undefined): CustomValues {
  return {
    custom_mid_id: route?.midId,
    custom_mid_name: route?.midName,
    custom_mid_reference: route?.midReference,
  };
}

function ofCard(card: CardPresentation): CustomValues {
  return {
    custom_card_brand: card.brand,
    custom_card_cardholder: card.holder,
    custom_card_hash: card.storageId,
    custom_card_bin: card.bin,
    custom_card_last: card.last4,
    custom_card_month: card.month,
    custom_card_year: card.year,
    custom_descriptor_merchant: card.descriptor,
    custom_descriptor_phone: card.descriptorPhone,
    secure_storage_id: card.storageId,
    custom_user_first_name: card.firstName,
    custom_user_last_name: card.lastName,
    custom_user_phone: card.phone,
  };
}
