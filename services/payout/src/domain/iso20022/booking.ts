import { REFERENCE_LENGTH } from '@gateway/contracts';
import { decimalText, scaledDecimal } from './euro';
import type { EchoedAmount, Fate, Reading } from './status-report';
import { amountDifference, NO_REASON } from './status-report';

/** What a bank says it has booked on our accounts: a camt.053, a camt.054, or the returns of a pacs.004. */
export interface AccountReport {
  messageId: string;
  statements: readonly AccountStatement[];
  /** Of a message about returns alone. */
  areReturns?: true;
}

export interface AccountStatement {
  /** The statement's own id. */
  id: string;
  /** IBAN; absent where the bank names its account otherwise. */
  account?: string;
  opening?: Balance;
  closing?: Balance;
  entries: readonly Entry[];
}

export type Side = 'debit' | 'credit';

export interface Balance extends EchoedAmount {
  side: Side;
}

export interface Entry extends Balance {
  /** Not only announced. */
  isBooked: boolean;
  /** It takes an earlier entry back. */
  isReversal: boolean;
  bookings: readonly Booking[];
}

/** One transaction of an entry, or the batch of an entry in one sum. */
export interface Booking extends Balance {
  /** Of our message. */
  messageId?: string;
  paymentId?: string;
  endToEndId?: string;
  /** The bank's own reference, the same wherever it tells of this booking. */
  bankReference?: string;
  /** Further amounts that the bank says it is. */
  echoes?: readonly EchoedAmount[];
  /** The money has come back. */
  returned?: { code?: string; description?: string };
}

/** Which of a bank's reports says that a payout is paid: its status, the booking, or the first of both. */
export type SettledBy = 'status' | 'booking' | 'either';

const NOT_PROVIDED = 'NOTPROVIDED';
const OUR_REFERENCE = new RegExp(`^[0-9A-Z]{${REFERENCE_LENGTH}}$`);

/** True for an EndToEndId that might be one of ours. */
export function looksLikeOurs(endToEndId: string): boolean {
  return OUR_REFERENCE.test(endToEndId);
}

/** The EndToEndId of a booking that has one. */
export function endToEndIdOf({ endToEndId }: Booking): string | undefined {
  return endToEndId === NOT_PROVIDED ? undefined : endToEndId;
}

/** The message ids by which a booking may mean a batch of ours: our PmtInfId is the MsgId. */
export function batchIdsOf({ messageId, paymentId }: Booking): string[] {
  return [...new Set([messageId, paymentId])].filter((id) => id !== undefined).filter((id) => id !== NOT_PROVIDED);
}

/** Why the transactions of an entry are not all: they do not add up to it. */
export function gapInEntry(entry: Entry): string | undefined {
  const { amount, currency, side, bookings } = entry;
  if (bookings.length < 2) return undefined;
  const parts = bookings.map((booking) => (booking.currency === currency ? signed(booking) : undefined));
  const sum = parts.reduce<bigint | undefined>(
    (all, one) => (all === undefined || one === undefined ? undefined : all + one),
    0n,
  );
  if (sum !== undefined && sum === signed(entry)) return undefined;
  return `a ${side} of ${amount} ${currency}, and its ${bookings.length} transactions add up to ${sum === undefined ? 'no sum' : decimalText(sum)}`;
}

/** Why the entries of a statement are not all: they do not lead from its opening balance to its closing one. */
export function gapIn({ id, opening, closing, entries }: AccountStatement): string | undefined {
  if (opening === undefined || closing === undefined) return undefined;
  const [from, to] = [signed(opening), signed(closing)];
  const booked = entries.filter(({ isBooked }) => isBooked).map(signed);
  if (from === undefined || to === undefined || booked.includes(undefined)) return `${id}: an amount is no number`;
  const moved = booked.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n);
  if (from + moved === to) return undefined;
  const [said, summed] = [to - from, moved].map(decimalText);
  return `${id}: its balances differ by ${said}, and its entries add up to ${summed}`;
}

function signed({ amount, side }: Balance): bigint | undefined {
  const scaled = scaledDecimal(amount);
  return scaled === undefined || side === 'credit' ? scaled : -scaled;
}

/** What we know about a transfer that the bank has booked. */
export interface KnownTransfer {
  fate: Fate;
  settledBy: SettledBy;
  /** Undefined if it is no longer known. */
  amountE4?: number;
  /** The account that pays it. */
  debtor?: string | undefined;
  /** The bank's reference of the debit, if one was reported. */
  bookedAs?: string | undefined;
}

/** Interprets a booking of a transfer, given what we know. Bookings may be told again, and out of order. */
export function readBooking(
  known: KnownTransfer,
  { booking, account, isReversal }: { booking: Booking; account?: string | undefined; isReversal: boolean },
): Reading {
  const problem = doubtAbout(known, booking, account);
  if (problem !== undefined) return { kind: 'doubtful', problem };
  if (isReversal) return { kind: 'doubtful', problem: 'the bank has taken a booking back' };
  return booking.side === 'debit' ? readDebit(known, booking) : readCredit(known, booking);
}

function doubtAbout({ amountE4, debtor }: KnownTransfer, booking: Booking, account?: string): string | undefined {
  const difference = amountDifference({ amounts: [booking, ...(booking.echoes ?? [])] }, amountE4);
  if (difference !== undefined) return difference;
  if (account === undefined || debtor === undefined || account === debtor) return undefined;
  return `booked on ${account} where ${debtor} pays`;
}

function readDebit({ fate, settledBy, bookedAs }: KnownTransfer, { bankReference, returned }: Booking): Reading {
  if (returned !== undefined) return { kind: 'doubtful', problem: 'a debit with the reason of a return' };
  if (bookedAs !== undefined && bankReference !== undefined && bookedAs !== bankReference)
    return { kind: 'doubtful', problem: `booked twice, as ${bookedAs} and as ${bankReference}` };
  switch (fate) {
    case 'open':
      return { kind: settledBy === 'status' ? 'submitted' : 'settled' };
    case 'declined':
      // Contradicts the decline, and the payout's owner reports that.
      return { kind: 'settled' };
    case 'settled':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}

function readCredit({ fate }: KnownTransfer, { returned }: Booking): Reading {
  if (returned === undefined) return { kind: 'doubtful', problem: 'a credit without the reason of a return' };
  switch (fate) {
    case 'open':
    case 'settled':
      return { kind: 'returned', reasonCode: returned.code ?? NO_REASON };
    // Banks book a transfer that they reject, and then book it back.
    case 'declined':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}
