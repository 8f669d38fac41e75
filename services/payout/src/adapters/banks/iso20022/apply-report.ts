import type { BankFacts, BankNews, NewsVerdict } from '../../../application/bank-ports';
import type { Reading, Statement, StatusReport } from '../../../domain/iso20022/status-report';
import {
  amountDifference,
  isAcceptance,
  readStatement,
  restWithout,
  statementsOf,
} from '../../../domain/iso20022/status-report';
import type { Member, Records } from './records';

export type TakeNews = (news: BankNews) => Promise<NewsVerdict>;

interface Context {
  members: Records['members'];
  take: TakeNews;
  /** The bank may have the message twice. */
  writtenAgain: boolean;
  /** The bank has accepted the message in an earlier report. */
  accepted: boolean;
  now: () => number;
}

/** Transfers processed at the same time. */
const ABREAST = 32;
/** References in one query. */
const REFERENCES_PER_QUERY = 1_000;

/**
 * Applies a report to the transfers of its message. It passes each outcome to `take` before it records it, so that an
 * outcome interrupted by a crash is passed on again. Returns the problems that an operator must look at. Throws if `take`
 * or the database does; the whole report can then be applied again.
 */
export async function applyReport(
  report: StatusReport,
  context: Context & { beforeEach: () => Promise<void> },
): Promise<string[]> {
  const { originalMessageId } = report;
  const said = statementsOf(report);
  const { byReference, problems } = said;
  const { strangers, differing } = await compared(byReference, originalMessageId, context.members);
  const unmatched = [...said.withoutId, ...strangers.flatMap((reference) => byReference.get(reference) ?? [])];
  const { forTheRest, unclearRest } = restWithout(said, { unmatched, differing });
  let unnamed = 0;
  const cursor = context.members.find({ batch: originalMessageId }).sort({ _id: 1 }).batchSize(ABREAST);
  const abreast: Promise<void>[] = [];
  const failures: unknown[] = [];
  const begin = (member: Member, statements: readonly Statement[]): void => {
    const told = applyStatements(member, statements, context);
    abreast.push(
      told.then(
        (found) => void problems.push(...found),
        (error: unknown) => void failures.push(error),
      ),
    );
  };
  const wait = async (): Promise<void> => {
    await Promise.all(abreast.splice(0));
    if (failures.length > 0) throw failures[0];
  };
  try {
    for await (const member of cursor) {
      if (!byReference.has(member._id)) unnamed += 1;
      const statements = byReference.get(member._id) ?? (forTheRest === undefined ? [] : [forTheRest]);
      if (statements.length === 0) continue;
      begin(member, statements);
      if (abreast.length < ABREAST) continue;
      await wait();
      await context.beforeEach();
    }
    await wait();
  } finally {
    // The next report must not overlap with this one.
    await Promise.all(abreast);
  }
  if (unnamed > 0 && unclearRest !== undefined)
    problems.push(`${unnamed} not named, payment said to be ${unclearRest}`);
  return [...problems, ...strangers.map((reference) => `${reference} is not in ${originalMessageId}`)];
}

/** The references that are not in the message, and the statements that echo an amount which is not their transfer's. */
async function compared(
  byReference: ReadonlyMap<string, readonly Statement[]>,
  batch: string,
  members: Records['members'],
): Promise<{ strangers: string[]; differing: Statement[] }> {
  const references = [...byReference.keys()];
  const differing: Statement[] = [];
  const ours = new Set<string>();
  for (let from = 0; from < references.length; from += REFERENCES_PER_QUERY) {
    const _id = { $in: references.slice(from, from + REFERENCES_PER_QUERY) };
    const projection = { amountE4: 1, 'transfer.amountE4': 1 };
    for (const member of await members.find({ batch, _id }, { projection }).toArray()) {
      ours.add(member._id);
      const statements = byReference.get(member._id) ?? [];
      differing.push(...statements.filter((one) => amountDifference(one, amountOf(member)) !== undefined));
    }
  }
  return { strangers: references.filter((reference) => !ours.has(reference)), differing };
}

/** An earlier release kept the amount in the transfer alone, which is removed once its fate is known. */
function amountOf({ amountE4, transfer }: Member): number | undefined {
  return amountE4 ?? transfer?.amountE4;
}

async function applyStatements(
  member: Member,
  statements: readonly Statement[],
  { members, take, writtenAgain, accepted, now }: Context,
): Promise<string[]> {
  const problems: string[] = [];
  let known = member;
  const amountE4 = amountOf(member);
  for (const statement of statements) {
    const { fate = 'open', declinedByName = false } = known;
    const acceptedItself = wasAccepted(known);
    const facts = { fate, declinedByName, writtenAgain, accepted: accepted || acceptedItself, acceptedItself };
    const reading = readStatement(amountE4 === undefined ? facts : { ...facts, amountE4 }, statement);
    const bank = factsOf(statement);
    const problem = await tell(known, reading, bank, take);
    if (problem !== undefined) problems.push(`${member._id}: ${problem}`);
    if (reading.kind === 'nothing-new') continue;
    const change = changeOf(known, reading, { ...statement, bank, at: now() }, problem !== undefined);
    await members.updateOne({ _id: member._id }, change);
    known = { ...known, ...change.$set };
  }
  return problems;
}

/** An earlier release kept the last status alone. */
function wasAccepted({ acceptedAt, status }: Member): boolean {
  return acceptedAt !== undefined || (status !== undefined && isAcceptance(status));
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
  { fate = 'open', acceptedAt }: Member,
  reading: Reading,
  { status, general, bank, at }: Statement & { bank: BankFacts; at: number },
  isProblem: boolean,
): { $set: Partial<Member>; $unset?: { transfer: '' } } {
  const isFirst = acceptedAt === undefined && isAcceptance(status);
  const said = { status, bank, ...(isFirst && { acceptedAt: at }) };
  const ended = { ...said, endedAt: new Date(at) };
  // A contradiction must not change the transfer's outcome.
  if (isProblem) return { $set: said };
  switch (reading.kind) {
    case 'settled':
    case 'returned':
      return { $set: { ...ended, fate: reading.kind }, $unset: { transfer: '' } };
    case 'declined':
      return {
        $set: { ...ended, fate: reading.kind, code: reading.code, declinedByName: !general },
        $unset: { transfer: '' },
      };
    case 'submitted':
    case 'nothing-new':
    case 'doubtful':
      return { $set: { ...said, fate } };
  }
}

function factsOf({ status, reasons: [reason], description, bankReference }: Statement): BankFacts {
  return {
    advice: status,
    ...(bankReference === undefined ? {} : { transactionId: bankReference }),
    ...(reason === undefined ? {} : { reasonCode: reason }),
    ...(description === undefined ? {} : { reasonDescription: description }),
  };
}
