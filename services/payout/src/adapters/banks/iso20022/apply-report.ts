import type { BankFacts } from '../../../application/bank-ports';
import type { SettledBy } from '../../../domain/iso20022/booking';
import type { Statement, StatusReport } from '../../../domain/iso20022/status-report';
import {
  amountDifference,
  isAcceptance,
  readStatement,
  restWithout,
  statementsOf,
} from '../../../domain/iso20022/status-report';
import type { Applying } from './apply-reading';
import { amountKnown, applyReading } from './apply-reading';
import type { Member, Records } from './records';

interface Context extends Applying {
  settledBy: SettledBy;
  /** The bank may have the message twice. */
  writtenAgain: boolean;
  /** The bank has accepted the message in an earlier report. */
  accepted: boolean;
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
      differing.push(...statements.filter((one) => amountDifference(one, amountKnown(member).amountE4) !== undefined));
    }
  }
  return { strangers: references.filter((reference) => !ours.has(reference)), differing };
}

async function applyStatements(member: Member, statements: readonly Statement[], context: Context): Promise<string[]> {
  const problems: string[] = [];
  let known = member;
  const { writtenAgain, accepted } = context;
  const settledByBooking = context.settledBy === 'booking';
  for (const statement of statements) {
    const { fate = 'open', declinedByName = false } = known;
    const acceptedItself = wasAccepted(known);
    const facts = { fate, declinedByName, writtenAgain, accepted: accepted || acceptedItself, acceptedItself };
    const reading = readStatement({ ...facts, settledByBooking, ...amountKnown(known) }, statement);
    const { status, general } = statement;
    const said = { bank: factsOf(statement), status, isAcceptance: isAcceptance(status), byName: !general };
    const applied = await applyReading(known, reading, said, context);
    if (applied.problem !== undefined) problems.push(`${member._id}: ${applied.problem}`);
    known = applied.member;
  }
  return problems;
}

/** An earlier release kept the last status alone. */
function wasAccepted({ acceptedAt, status }: Member): boolean {
  return acceptedAt !== undefined || (status !== undefined && isAcceptance(status));
}

function factsOf({ status, reasons: [reason], description, bankReference }: Statement): BankFacts {
  return {
    advice: status,
    ...(bankReference === undefined ? {} : { transactionId: bankReference }),
    ...(reason === undefined ? {} : { reasonCode: reason }),
    ...(description === undefined ? {} : { reasonDescription: description }),
  };
}
