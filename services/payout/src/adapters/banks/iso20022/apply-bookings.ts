import type { BankFacts } from '../../../application/bank-ports';
import type { AccountReport, Booking, SettledBy } from '../../../domain/iso20022/booking';
import {
  batchIdsOf,
  endToEndIdOf,
  gapIn,
  gapInEntry,
  looksLikeOurs,
  readBooking,
} from '../../../domain/iso20022/booking';
import { euroText } from '../../../domain/iso20022/euro';
import { amountDifference } from '../../../domain/iso20022/status-report';
import type { Applying } from './apply-reading';
import { amountKnown, applyReading } from './apply-reading';
import { noteAcceptance, noteReport } from './batch-reports';
import { endBatch } from './ends';
import type { Batch, Member, Records } from './records';

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
export async function applyBookings({ statements, areReturns }: AccountReport, context: Context): Promise<string[]> {
  const problems = statements.flatMap((statement) => gapIn(statement) ?? []);
  const booked: Booked[] = [];
  for (const { account, entries } of statements) {
    for (const entry of entries) {
      if (!entry.isBooked) continue;
      const gap = gapInEntry(entry);
      const ofEntry = entry.bookings.map((booking) => ({ booking, account, isReversal: entry.isReversal }));
      if (gap === undefined) booked.push(...ofEntry);
      else if (await areOurs(ofEntry, context)) problems.push(gap);
    }
  }
  if (areReturns === true) problems.push(...namelessIn(booked));
  const seen = new Set<string>();
  for (let from = 0; from < booked.length; from += AT_ONCE) {
    problems.push(...(await applySome(booked.slice(from, from + AT_ONCE), seen, context)));
  }
  return problems;
}

/** Of others' entries, nothing is known. */
async function areOurs(booked: readonly Booked[], context: Context): Promise<boolean> {
  const [members, batches] = [await membersOf(booked, context), await batchesOf(booked, [], context)];
  return members.size + batches.size > 0;
}

/** A message about returns that names none, or one without its payment, cannot be left alone. */
function namelessIn(booked: readonly Booked[]): string[] {
  if (booked.length === 0) return ['it names no transaction'];
  const nameless = booked.filter(({ booking }) => endToEndIdOf(booking) === undefined);
  return nameless.map(({ booking }) => `a return of ${booking.amount} ${booking.currency} without OrgnlEndToEndId`);
}

async function applySome(some: readonly Booked[], seen: Set<string>, context: Context): Promise<string[]> {
  const members = await membersOf(some, context);
  const batches = await batchesOf(some, [...members.values()], context);
  const progress: Progress = { seen, batches, touched: new Set(), problems: [] };
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
    await context.beforeEach();
  }
}

async function membersOf(some: readonly Booked[], { members }: Context): Promise<Map<string, Member>> {
  const ids = some.flatMap(({ booking }) => endToEndIdOf(booking) ?? []);
  const found = await members.find({ _id: { $in: ids }, batch: { $exists: true } }).toArray();
  return new Map(found.map((member) => [member._id, member]));
}

/** Those that the bookings name, and those of the members. */
async function batchesOf(
  some: readonly Booked[],
  members: readonly Member[],
  { batches }: Context,
): Promise<Map<string, Batch>> {
  const named = some.flatMap(({ booking }) => batchIdsOf(booking));
  const ids = [...new Set([...named, ...members.flatMap(({ batch }) => batch ?? [])])];
  const found = await batches.find({ _id: { $in: ids } }).toArray();
  return new Map(found.map((batch) => [batch._id, batch]));
}

interface Progress {
  /** Transfers with a debit in this report. */
  seen: Set<string>;
  batches: ReadonlyMap<string, Batch>;
  /** Batches with an applied booking. */
  touched: Set<string>;
  problems: string[];
}

async function applyToMember(member: Member, booked: Booked, progress: Progress, context: Context): Promise<Member> {
  const { seen, touched, problems } = progress;
  const { booking } = booked;
  const { _id, fate = 'open', bookedAs, batch } = member;
  const isDebit = booking.side === 'debit' && !booked.isReversal;
  if (isDebit && seen.has(_id)) {
    problems.push(`${_id}: booked twice in one report`);
    return member;
  }
  const debtor = progress.batches.get(batch ?? '')?.debtor.iban;
  const settledBy = debtor === undefined ? 'either' : context.settledByOf(debtor);
  const reading = readBooking({ fate, settledBy, ...amountKnown(member), debtor, bookedAs }, booked);
  if (reading.kind === 'doubtful') {
    problems.push(`${_id}: ${reading.problem}`);
    return member;
  }
  if (batch !== undefined) touched.add(batch);
  if (isDebit) seen.add(_id);
  const said = { bank: factsOf(booking), isAcceptance: isDebit, byName: true };
  const reference = isDebit ? booking.bankReference : undefined;
  const applied = await applyReading(member, reading, { ...said, bookedAs: reference }, context);
  if (applied.problem !== undefined) problems.push(`${_id}: ${applied.problem}`);
  return applied.member;
}

/** A booking of a batch in one sum is of all its transfers that were not declined. */
async function applyToBatch(batch: Batch, booked: Booked, progress: Progress, context: Context): Promise<void> {
  const { booking, isReversal } = booked;
  const { bankReference, echoes = [] } = booking;
  const { bookedAs } = batch;
  const ofBatch = await context.members.find({ batch: batch._id }).sort({ _id: 1 }).toArray();
  const paid = ofBatch.filter(({ fate }) => fate !== 'declined');
  const totalE4 = paid.reduce((sum, member) => sum + (amountKnown(member).amountE4 ?? NaN), 0);
  const said = `${batch._id}: ${amountOf(booking)} booked in one sum`;
  const difference = Number.isNaN(totalE4)
    ? 'another sum'
    : amountDifference({ amounts: [booking, ...echoes] }, totalE4);
  if (difference !== undefined) {
    progress.problems.push(`${said}: ${difference}, in ${paid.length} payouts`);
  } else if (paid.length > 1 && (booking.side === 'credit' || isReversal)) {
    progress.problems.push(`${said}, back to us`);
  } else if (bankReference !== undefined && bookedAs !== undefined && bankReference !== bookedAs) {
    progress.problems.push(`${said} twice, as ${bookedAs} and as ${bankReference}`);
  } else {
    if (bankReference !== undefined && booking.side === 'debit')
      await context.batches.updateOne({ _id: batch._id }, { $set: { bookedAs: bankReference } });
    await applyToMembers(
      paid.map((member) => [member, [shareOf(booked, member)]] as const),
      progress,
      context,
    );
  }
}

/** The reference of a sum is of no single transfer: elsewhere the bank may give each its own. */
function shareOf(booked: Booked, member: Member): Booked {
  const { bankReference: _reference, echoes: _echoes, ...booking } = booked.booking;
  return { ...booked, booking: { ...booking, amount: euroText(amountKnown(member).amountE4 ?? 0) } };
}

function amountOf({ amount, currency, side }: Booking): string {
  return `${side} of ${amount} ${currency}`;
}

/** A booking is a report on its file. */
async function markReported(_id: string, context: Context): Promise<void> {
  const reportedAt = context.now();
  await noteReport(context.batches, _id, reportedAt);
  await noteAcceptance(context.batches, _id, reportedAt);
  await endBatch(context, { _id, reportedAt }, context.now());
}

function factsOf({ bankReference, returned: { code, description } = {} }: Booking): BankFacts {
  return {
    advice: BOOKED,
    ...(bankReference === undefined ? {} : { transactionId: bankReference }),
    ...(code === undefined ? {} : { reasonCode: code }),
    ...(description === undefined ? {} : { reasonDescription: description }),
  };
}
