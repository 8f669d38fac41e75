/**
 * The fields that merchants send, with what they mean. Documents show it. A field of a new endpoint needs a line here;
 * its rule is in the endpoint's table.
 */
export const FIELD_MEANINGS = {
  api_version: 'Version of the interface.',
  merchant_account: 'Name of the merchant account.',
  merchant_password: 'API password of the merchant account.',
  transaction_type: 'The operation.',
  transaction_unique_id: "The merchant's own id of the operation. It counts once per account.",
  amount: 'Amount in the currency, with at most 4 decimals and no more than the currency allows.',
  currency: 'Currency by ISO 4217, three letters. XTS is the test currency.',
  card_number: 'Card number, valid by the Luhn check.',
  card_exp_month: 'Month in which the card expires.',
  card_exp_year: 'Year in which the card expires.',
  cvv: 'Security code of the card.',
  token: 'Replaces card number, expiry date and holder. Every answer to card data has it.',
  card_holder: 'Name on the card.',
  first_name: "Customer's first name. Of a customer with one name, send that name here and as last_name.",
  last_name: "Customer's last name. Of a customer with one name, send that name here and as first_name.",
  address: "Customer's address.",
  city: "Customer's city.",
  state: "Customer's state or region.",
  zip: "Customer's postal code.",
  country:
    "Customer's country by ISO 3166-1, three letters. Kosovo has no code there, and XK and XKX are refused: ask your acquirer which one to send.",
  user_phone: "Customer's phone number. In XTS it must begin with +.",
  user_email: "Customer's e-mail address.",
  user_ip:
    "Customer's IP address, IPv4 or IPv6, one and without a port. Behind a proxy: the address that your own proxy adds to X-Forwarded-For.",
  callback_url:
    'https address that gets the final outcome. In an AUTH: callbacks about its hold, if the account has them on. Not at a port of another protocol, as for redirect_url.',
  redirect_url:
    "https address to which the cardholder's browser returns. Not at a port of another protocol: https://fetch.spec.whatwg.org/#port-blocking lists them.",
  reference: 'Reference of an earlier operation, from its answer.',
  merchant_user_id: "The user's id at the merchant.",
  merchant_domain_name: "Domain of the merchant's shop.",
  merchant_affiliate_id: 'Id of the affiliate.',
  merchant_product_name: 'Name of the product.',
  descriptor_merchant: "Text for the cardholder's statement.",
  descriptor_phone: "Phone number for the cardholder's statement.",
  mid_reference: "The account's terminal to use.",
  date_of_birth: "Customer's date of birth, in the past.",
  cof_type:
    "Credential on file: a customer's first payment, a later one that the customer makes, or one that the merchant initiates.",
  pares: "Proof of the cardholder's authentication, from an AUTH3D.",
  method: 'What to do with the payout.',
  type: 'Kind of payout.',
  receiver_iban: "Receiver's IBAN, of a country in SEPA. Spaces and lower case are accepted.",
  receiver_type: 'Whether the receiver is a person or a legal entity.',
  receiver_code: 'Personal code or company code of the receiver.',
  receiver_name: "Receiver's name.",
  receiver_bic: "BIC of the receiver's bank.",
  transfer_description: 'Purpose of the payment, for the receiver.',
  receiver_address: "Receiver's address in one line. Deprecated, and ignored beside the structured fields.",
  receiver_city: "Receiver's city.",
  receiver_country:
    "Receiver's country by ISO 3166-1, three letters. Leave it out for Kosovo, which has no code there.",
  receiver_zip: "Receiver's postal code.",
  receiver_street: "Receiver's street.",
  receiver_building_number: 'Building number in the street.',
  receiver_apartment: 'Apartment in the building.',
  time_from: 'Start of the period, in unix seconds, inclusive.',
  time_to: 'End of the period, in unix seconds, inclusive.',
  qod_type: 'What to list.',
  order: 'Oldest first (`acs` or `asc`, the default) or newest first.',
  page: 'Page of the list, from 1.',
  limit: 'Records on a page.',
  cursor: '`cursor` of an earlier answer: continues after it.',
  since: 'Only callbacks created at this time or later, in unix seconds.',
  wait: 'How long to wait for an event, in seconds.',
  callback_id: 'Id of the callback.',
  advance: "Seconds to move the account's clock forward. Without it the clock stays, and the answer has its time.",
} as const;

export type FieldName = keyof typeof FIELD_MEANINGS;

/** Fields that merchants should no longer send. */
export const DEPRECATED_FIELDS: readonly FieldName[] = ['receiver_address'];
