import type { BankFacts, BankNews, NewsVerdict } from '../../../application/bank-ports';
import type { Reading } from '../../../domain/iso20022/status-report';
import type { Member, Records } from './records';

export type TakeNews = (news: BankNews) => Promise<NewsVerdict>;

/** What applying anything that a bank says needs. */
export interface Applying {
  members: Records['members'];
  take: TakeNews;
  now: () => number;
}

/** What the bank said about a transfer. */
export interface Said {
  bank: BankFacts;
  /** ISO 20022 status; absent of a booking. */
  status?: string;
  /** The bank says so only of a transfer that it has taken. */
  isAcceptance: boolean;
  /** It named the transfer, not the whole message. */
  byName: boolean;
  /** The bank's reference of a debit. */
  bookedAs?: string | undefined;
}

/** An earlier release kept the amount in the transfer alone, which is removed once its fate is known. */
export function amountKnown({ amountE4, transfer }: Member): { amountE4?: number } {
  const known = amountE4 ?? transfer?.amountE4;
  return known === undefined ? {} : { amountE4: known };
}

/**
 * Passes a reading on before it records it, so that an outcome interrupted by a crash is passed on again. Throws if `take`
 * or the database does. Returns the member as it is then, and the problem, if there is one.
 */
export async function applyReading(
  member: Member,
  reading: Reading,
  said: Said,
  { members, take, now }: Applying,
): Promise<{ member: Member; problem?: string }> {
  const problem = await tell(member, reading, said.bank, take);
  const found = problem === undefined ? {} : { problem };
  const isFirstBooking = said.bookedAs !== undefined && member.bookedAs === undefined;
  if (reading.kind === 'nothing-new' && !isFirstBooking) return { member, ...found };
  const change = changeOf(member, reading, { ...said, at: now() }, problem !== undefined);
  await members.updateOne({ _id: member._id }, change);
  return { member: { ...member, ...change.$set }, ...found };
}

/** Returns the problem, if there is one. */
async function tell(member: Member, reading: Reading, bank: BankFacts, take: TakeNews): Promise<string | undefined> {
  const outcome = outcomeOf(reading, bank, member);
  const verdict = outcome === undefined ? 'applied' : await take({ reference: member._id, outcome });
  if (reading.kind === 'doubtful') return reading.problem;
  if (verdict === 'applied') return undefined;
  return verdict === 'unknown-payout'
    ? 'no payout has this reference'
    : `${reading.kind} contradicts what is on record`;
}

/** An intermediate status is news only if the bank adds a reason. */
function outcomeOf(reading: Reading, bank: BankFacts, { fate = 'open' }: Member): BankNews['outcome'] | undefined {
  switch (reading.kind) {
    case 'nothing-new':
      return undefined;
    case 'submitted':
      return bank.reasonCode === undefined && bank.reasonDescription === undefined
        ? undefined
        : { kind: 'submitted', bank };
    case 'doubtful':
      return fate === 'open' ? { kind: 'submitted', bank } : undefined;
    case 'settled':
      return { kind: 'settled', bank };
    case 'declined':
      return { kind: 'declined', code: reading.code, bank };
    case 'returned':
      return { kind: 'returned', reasonCode: reading.reasonCode, bank };
  }
}

function changeOf(
  { fate = 'open', acceptedAt, bookedAs: known }: Member,
  reading: Reading,
  { status, bank, isAcceptance, byName, bookedAs, at }: Said & { at: number },
  isProblem: boolean,
): { $set: Partial<Member>; $unset?: { transfer: '' } } {
  const said: Partial<Member> = {
    bank,
    ...(status === undefined ? {} : { status }),
    ...(acceptedAt === undefined && isAcceptance ? { acceptedAt: at } : {}),
    ...(known === undefined && bookedAs !== undefined ? { bookedAs } : {}),
  };
  const ended = { ...said, endedAt: new Date(at) };
  // A contradiction must not change the transfer's outcome.
  if (isProblem) return { $set: said };
  switch (reading.kind) {
    case 'settled':
    case 'returned':
      return { $set: { ...ended, fate: reading.kind }, $unset: { transfer: '' } };
    case 'declined':
      return {
        $set: { ...ended, fate: reading.kind, code: reading.code, declinedByName: byName },
        $unset: { transfer: '' },
      };
    case 'submitted':
    case 'doubtful':
      return { $set: { ...said, fate } };
    case 'nothing-new':
      // The facts of what decided it stay.
      return { $set: bookedAs === undefined ? {} : { bookedAs } };
  }
}
