import type { Receiver, ReceiverType } from '@gateway/contracts';
import { isSepaIban, RawText, RECEIVER_TYPES, RESPONSE_CODES } from '@gateway/contracts';
import type { AccountRefusal } from './account-rules';
import { boundedText } from './body';
import type { RequestTable } from './field-check';
import { texts } from './field-check';
import * as rule from './field-rules';
import type { FieldRow, FieldRule, Findings } from './field-table';
import { row } from './field-table';
import type { PayoutQuery, PayoutRequest } from './payout-request';
import { subjectTable } from './subject';

/** The formats of account numbers and bank codes of all countries. */
export interface BankAddresses {
  /** ISO 13616: structure and check digits of the IBAN's country. Expects the electronic form. */
  isIban(iban: string): boolean;
  /** ISO 9362: 8 or 11 characters. Expects upper case. */
  isBic(bic: string): boolean;
}

/** A payout's id may have a single character. */
const MIN_ID_LENGTH = 1;
const MAX_LIMIT = 1_000;
/** Can still be multiplied by the limit; no merchant has that many pages. */
const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_LIMIT);

/** The interface's table of the SEPA payout request, in its order. */
function payoutRows(banks: BankAddresses): readonly FieldRow[] {
  return [
    row('method', 'required', rule.oneOf('init')),
    row('transaction_unique_id', 'required', rule.newUniqueId(MIN_ID_LENGTH)),
    row('amount', 'required', rule.amount),
    row('currency', 'required', rule.currency),
    row('callback_url', 'required', rule.httpsUrl),
    row('type', 'required', rule.oneOf('sepa')),
    row('receiver_iban', 'required', iban(banks)),
    row('receiver_type', { beside: 'receiver_code', then: 'required', otherwise: 'optional' }, receiverType),
    row('receiver_code', 'optional', rule.freeText(1, 20, '12345')),
    row('receiver_name', 'required', rule.freeText(1, 70, 'Ann Lee')),
    row('receiver_bic', 'optional', bic(banks)),
    row('transfer_description', 'required', rule.freeText(1, 140, 'Invoice 2026-17')),
    row('receiver_address', 'optional', rule.freeText(2, 64, 'Long Street 5')),
    row('receiver_city', 'optional', rule.freeText(2, 32, 'Berlin')),
    row('receiver_country', 'optional', rule.country),
    row('receiver_zip', 'optional', rule.freeText(2, 10, '10115')),
    row('receiver_street', 'optional', rule.freeText(2, 64, 'Long Street')),
    row('receiver_building_number', 'optional', rule.freeText(1, 16, '5b')),
    row('receiver_apartment', 'optional', rule.freeText(1, 35, '12')),
  ];
}

const receiverType = rule.oneOf(...RECEIVER_TYPES);

/** ASCII first: the upper case of some other letters is ASCII. */
const PRINTED_IBAN_MAX = 64;
const PRINTED_IBAN = /^[A-Za-z0-9 ]{1,64}$/;

/** Accepts the printed form too (groups with spaces) and lower case; keeps the electronic form. */
function iban(banks: BankAddresses): FieldRule {
  return {
    schema: { type: 'string', pattern: PRINTED_IBAN.source, format: 'iban' },
    read(value) {
      const printed = boundedText(value, PRINTED_IBAN_MAX);
      if (printed === undefined || !PRINTED_IBAN.test(printed)) return undefined;
      const electronic = printed.replaceAll(' ', '').toUpperCase();
      return isSepaIban(electronic) && banks.isIban(electronic) ? electronic : undefined;
    },
    allowed: 'an IBAN of a country in SEPA, in letters and digits, with or without spaces',
    example: 'DE89 3704 0044 0532 0130 00',
    why(value) {
      if (!(value instanceof RawText)) return rule.whyNoText(value);
      const printed = value.within(PRINTED_IBAN_MAX);
      if (printed === undefined) return 'length';
      if (!PRINTED_IBAN.test(printed)) return 'characters';
      return isSepaIban(printed.replaceAll(' ', '').toUpperCase()) ? 'check-digits' : 'not-sepa';
    },
  };
}

const BIC_MAX = 11;
const BIC_CHARACTERS = /^[A-Za-z0-9]{8,11}$/;

/** Accepts lower case; keeps upper case. */
function bic(banks: BankAddresses): FieldRule {
  return {
    schema: { type: 'string', pattern: BIC_CHARACTERS.source, format: 'bic' },
    read(value) {
      const given = boundedText(value, BIC_MAX);
      if (given === undefined || !BIC_CHARACTERS.test(given)) return undefined;
      const upper = given.toUpperCase();
      return banks.isBic(upper) ? upper : undefined;
    },
    allowed: 'a BIC of 8 or 11 letters and digits',
    example: 'DEUTDEFF',
    why(value) {
      if (!(value instanceof RawText)) return rule.whyNoText(value);
      return value.within(BIC_MAX) === undefined ? 'length' : 'format';
    },
  };
}

/** The fields of a payout; `banks` decides about IBANs and BICs. */
export function payoutTable(banks: BankAddresses): RequestTable<PayoutRequest> {
  return {
    rows: payoutRows(banks),
    build: (found, custom) => ({
      transactionUniqueId: found.text('transaction_unique_id'),
      amountE4: found.number('amount'),
      currency: found.text('currency'),
      callbackUrl: found.text('callback_url'),
      receiver: receiver(found),
      description: found.text('transfer_description'),
      custom,
    }),
  };
}

function receiver(found: Findings): Receiver {
  const type = found.optionalText('receiver_type');
  return {
    iban: found.text('receiver_iban'),
    name: found.text('receiver_name'),
    ...texts(found, { bic: 'receiver_bic', code: 'receiver_code' }),
    ...(type === undefined ? {} : { type: type as ReceiverType }),
    address: address(found),
  };
}

/** The deprecated field counts only without structured fields: banks refuse a mixture. */
function address(found: Findings): Receiver['address'] {
  const structured = texts(found, {
    street: 'receiver_street',
    buildingNumber: 'receiver_building_number',
    apartment: 'receiver_apartment',
    zip: 'receiver_zip',
    city: 'receiver_city',
    country: 'receiver_country',
  });
  return Object.keys(structured).length > 0 ? structured : texts(found, { unstructured: 'receiver_address' });
}

/** The fields of the CHECK of a payout. */
export const PAYOUT_CHECK_TABLE = subjectTable(MIN_ID_LENGTH);

/** The fields of a query on demand. */
export const PAYOUT_QUERY_TABLE: RequestTable<PayoutQuery> = {
  rows: [
    row('time_from', 'required', rule.unixSeconds),
    row('time_to', 'required', rule.unixSeconds),
    row('qod_type', 'required', rule.oneOf('transactions')),
    // The interface spells it `acs`, everyone else `asc`.
    row('order', 'optional', rule.oneOf('acs', 'asc', 'desc')),
    row('page', 'optional', rule.integer(1, MAX_PAGE)),
    row('limit', 'optional', rule.integer(1, MAX_LIMIT)),
  ],
  build: (found) => ({
    from: found.number('time_from'),
    to: found.number('time_to'),
    order: found.optionalText('order') === 'desc' ? 'desc' : 'asc',
    page: found.optionalNumber('page') ?? 1,
    limit: found.optionalNumber('limit') ?? MAX_LIMIT,
  }),
};

/** Step 6 for a query: its window must not end before it begins. */
export function checkPayoutWindow({ from, to }: PayoutQuery): AccountRefusal | undefined {
  return from > to ? RESPONSE_CODES.QUERY_TIMES_OUT_OF_ORDER : undefined;
}
