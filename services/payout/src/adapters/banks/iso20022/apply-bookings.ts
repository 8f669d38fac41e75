import type { BankFacts } from '../../../application/bank-ports';
import type { AccountReport, Booking, SettledBy } from '../../../domain/iso20022/booking';
import { batchIdsOf, endToEndIdOf, gapIn, looksLikeOurs, readBooking } from '../../../domain/iso20022/booking';
import { euroText, saysEuros } from '../../../domain/iso20022/euro';
import type { Applying } from './apply-reading';
import { amountKnown, applyReading } from './apply-reading';
import { endBatch } from './ends';
import type { Batch, Member, Records } from './records';
import { takeStep } from './records';

interface Context extends Applying {
  batches: Records['batches'];
  settledByOf: (iban: string) => SettledBy;
  beforeEach: () => Promise<void>;
}

/** A booking, the account that it is on, and whether it takes an earlier one back. */
interface Booked {
  booking: Booking;
  account?: string | undefined;
  isReversal: boolean;
}

/** The status of an entry that is final. */
const BOOKED = 'BOOK';
/** Bookings that are looked up at the same time. */
const AT_ONCE = 500;
/** Transfers processed at the same time. */
const ABREAST = 32;

/**
 * Applies what a bank has booked to the transfers that it names, and leaves out what is not of our payouts. Returns the
 * problems that an operator must look at; what they are about has changed nothing. Throws if `take` or the database does;
 * the whole report can then be applied again.
 */
export async function applyBookings({ statements }: AccountReport, context: Context): Promise<string[]> {
  const problems = statements.flatMap((statement) => gapIn(statement) ?? []);
  const booked = statements.flatMap(({ account, entries }) =>
    entries
      .filter(({ isBooked }) => isBooked)
      .flatMap(({ isReversal, bookings }) => bookings.map((booking): Booked => ({ booking, account, isReversal }))),
  );
  const seen = new Set<string>();
  for (let from = 0; from < booked.length; from += AT_ONCE) {
    problems.push(...(await applySome(booked.slice(from, from + AT_ONCE), seen, context)));
    await context.beforeEach();
  }
  return problems;
}

async function applySome(some: readonly Booked[], seen: Set<string>, context: Context): Promise<string[]> {
  const [members, batches] = [await membersOf(some, context), await batchesOf(some, context)];
  const progress: Progress = { seen, touched: new Set(), problems: [] };
  const byMember = new Map<Member, Booked[]>();
  for (const one of some) {
    const id = endToEndIdOf(one.booking);
    const [batch] = batchIdsOf(one.booking).flatMap((name) => batches.get(name) ?? []);
    const member = id === undefined ? undefined : members.get(id);
    if (member !== undefined) byMember.set(member, [...(byMember.get(member) ?? []), one]);
    else if (id === undefined && batch !== undefined) await applyToBatch(batch, one, progress, context);
    else if (id !== undefined && (batch !== undefined || looksLikeOurs(id)))
      progress.problems.push(`${id}: ${amountOf(one.booking)} booked, and no payout in a file has this reference`);
  }
  await applyToMembers([...byMember], progress, context);
  for (const _id of progress.touched) await markReported(_id, context);
  return progress.problems;
}

/** Each member's bookings one after the other. */
async function applyToMembers(
  all: readonly (readonly [Member, readonly Booked[]])[],
  progress: Progress,
  context: Context,
): Promise<void> {
  for (let from = 0; from < all.length; from += ABREAST) {
    const applied = await Promise.allSettled(
      all.slice(from, from + ABREAST).map(async ([member, booked]) => {
        let known = member;
        for (const one of booked) known = await applyToMember(known, one, progress, context);
      }),
    );
    // The next report must not overlap with this one.
    const failure = applied.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
  }
}

async function membersOf(some: readonly Booked[], { members }: Context): Promise<Map<string, Member>> {
  const ids = some.flatMap(({ booking }) => endToEndIdOf(booking) ?? []);
  const found = await members.find({ _id: { $in: ids }, batch: { $exists: true } }).toArray();
  return new Map(found.map((member) => [member._id, member]));
}

async function batchesOf(some: readonly Booked[], { batches }: Context): Promise<Map<string, Batch>> {
  const ids = [...new Set(some.flatMap(({ booking }) => batchIdsOf(booking)))];
  const found = await batches.find({ _id: { $in: ids } }).toArray();
  return new Map(found.map((batch) => [batch._id, batch]));
}

interface Progress {
  /** Transfers of which this report has told a debit. */
  seen: Set<string>;
  /** Batches that the bank has told something about. */
  touched: Set<string>;
  problems: string[];
}

async function applyToMember(member: Member, booked: Booked, progress: Progress, context: Context): Promise<Member> {
  const { seen, touched, problems } = progress;
  const { booking } = booked;
  const { _id, fate = 'open', debtor, bookedAs, batch } = member;
  const isDebit = booking.side === 'debit' && !booked.isReversal;
  if (isDebit && seen.has(_id)) {
    problems.push(`${_id}: booked twice in one report`);
    return member;
  }
  const settledBy = debtor === undefined ? 'either' : context.settledByOf(debtor.iban);
  const reading = readBooking({ fate, settledBy, ...amountKnown(member), debtor: debtor?.iban, bookedAs }, booked);
  const isTaken = reading.kind !== 'doubtful';
  if (isTaken && batch !== undefined) touched.add(batch);
  if (isTaken && isDebit) seen.add(_id);
  const said = { bank: factsOf(booking), isAcceptance: isTaken && isDebit, byName: true };
  const reference = said.isAcceptance ? booking.bankReference : undefined;
  const applied = await applyReading(member, reading, { ...said, bookedAs: reference }, context);
  if (applied.problem !== undefined) problems.push(`${_id}: ${applied.problem}`);
  return applied.member;
}

/** A booking of a batch in one sum is of all its transfers that were not declined. */
async function applyToBatch(batch: Batch, booked: Booked, progress: Progress, context: Context): Promise<void> {
  const { booking, isReversal } = booked;
  const ofBatch = await context.members.find({ batch: batch._id }).sort({ _id: 1 }).toArray();
  const paid = ofBatch.filter(({ fate }) => fate !== 'declined');
  const totalE4 = paid.reduce((sum, member) => sum + (amountKnown(member).amountE4 ?? NaN), 0);
  const said = `${batch._id}: ${amountOf(booking)} booked in one sum`;
  if (booking.currency !== 'EUR' || Number.isNaN(totalE4) || !saysEuros(booking.amount, totalE4)) {
    const sent = Number.isNaN(totalE4) ? 'another sum' : `${euroText(totalE4)} EUR`;
    progress.problems.push(`${said} where ${sent} of ${paid.length} payouts was sent`);
  } else if (paid.length > 1 && (booking.side === 'credit' || isReversal)) {
    progress.problems.push(`${said}, back to us`);
  } else {
    const shares = paid.map((member) => [member, [shareOf(booked, member)]] as const);
    await applyToMembers(shares, progress, context);
  }
}

function shareOf(booked: Booked, member: Member): Booked {
  const amount = euroText(amountKnown(member).amountE4 ?? 0);
  return { ...booked, booking: { ...booked.booking, amount } };
}

function amountOf({ amount, currency, side }: Booking): string {
  return `${side} of ${amount} ${currency}`;
}

/** A booking is a report on its file. */
async function markReported(_id: string, context: Context): Promise<void> {
  const { batches, members, now } = context;
  const reportedAt = now();
  const change = {
    $set: { reportedAt, acceptedAt: reportedAt },
    $unset: { problem: '' as const, endedAt: '' as const },
  };
  await batches.updateOne(...takeStep('report', { _id }, change));
  await endBatch({ batches, members }, { _id, reportedAt }, now());
}

function factsOf({ bankReference, returned: { code, description } = {} }: Booking): BankFacts {
  return {
    advice: BOOKED,
    ...(bankReference === undefined ? {} : { transactionId: bankReference }),
    ...(code === undefined ? {} : { reasonCode: code }),
    ...(description === undefined ? {} : { reasonDescription: description }),
  };
}
