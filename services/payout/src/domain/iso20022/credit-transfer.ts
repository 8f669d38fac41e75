import type { Receiver } from '@gateway/contracts';
import { alpha2Of, hasRightCheckDigits, isSepaIban } from '@gateway/contracts';
import { isWholeCents } from './euro';
import { sepaText } from './sepa-text';

/** SEPA's limits, which are tighter than those of pain.001, except for the address. */
const NAME_LENGTH = 70;
const REMITTANCE_LENGTH = 140;
const STREET_LENGTH = 70;
const BUILDING_NUMBER_LENGTH = 16;
const ROOM_LENGTH = 70;
const POST_CODE_LENGTH = 16;
const TOWN_LENGTH = 35;

/** The part of a payout that goes to the bank. */
export interface TransferOrder {
  amountE4: number;
  currency: string;
  receiver: Receiver;
  description: string;
}

/** One credit transfer, with all texts as they appear in the file. */
export interface CreditTransfer {
  amountE4: number;
  iban: string;
  bic?: string;
  name: string;
  address?: StructuredAddress;
  remittance?: string;
}

/** ISO 20022 names. SEPA requires town and country. */
export interface StructuredAddress {
  streetName?: string;
  buildingNumber?: string;
  room?: string;
  postCode?: string;
  townName: string;
  /** ISO 3166-1 alpha-2. */
  country: string;
}

export type Checked = { transfer: CreditTransfer } | { refusal: string };

/** The credit transfer for an order, or the reason why SEPA cannot carry it out. */
export function creditTransferOf({ amountE4, currency, receiver, description }: TransferOrder): Checked {
  if (currency !== 'EUR') return { refusal: `SEPA takes EUR, not ${currency}` };
  // SEPA allows up to 999999999.99; the contracts' limit is lower.
  if (amountE4 <= 0) return { refusal: 'no amount' };
  if (!isWholeCents(amountE4)) return { refusal: 'amount finer than a cent' };
  if (!hasRightCheckDigits(receiver.iban)) return { refusal: 'IBAN with wrong check digits' };
  if (!isSepaIban(receiver.iban)) return { refusal: `${receiver.iban.slice(0, 2)} is not in the SEPA scheme` };
  const name = sepaText(receiver.name, NAME_LENGTH);
  if (!/[a-zA-Z0-9]/.test(name)) return { refusal: 'receiver’s name has no letter that SEPA knows' };
  const address = addressOf(receiver.address);
  const remittance = sepaText(description, REMITTANCE_LENGTH);
  return {
    transfer: {
      amountE4,
      iban: receiver.iban,
      ...(receiver.bic === undefined ? {} : { bic: receiver.bic }),
      name,
      ...(address === undefined ? {} : { address }),
      ...(remittance === '' ? {} : { remittance }),
    },
  };
}

/**
 * A structured address or none. Since November 2026 SEPA refuses addresses without town and country, and so the
 * merchants' deprecated unstructured one.
 */
function addressOf(address: Receiver['address']): StructuredAddress | undefined {
  const townName = sepaText(address.city ?? '', TOWN_LENGTH);
  const country = alpha2Of(address.country ?? '');
  if (townName === '' || country === undefined) return undefined;
  const details = {
    streetName: sepaText(address.street ?? '', STREET_LENGTH),
    buildingNumber: sepaText(address.buildingNumber ?? '', BUILDING_NUMBER_LENGTH),
    room: sepaText(address.apartment ?? '', ROOM_LENGTH),
    postCode: sepaText(address.zip ?? '', POST_CODE_LENGTH),
  };
  return { ...Object.fromEntries(Object.entries(details).filter(([, text]) => text !== '')), townName, country };
}
