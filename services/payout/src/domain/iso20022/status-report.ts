import type { ResponseCode } from '@gateway/contracts';
import { codeOfRejection, isDuplicateReason } from './reasons';

/** The parts of a pain.002, of any version, that we use. */
export interface StatusReport {
  /** The report's own MsgId. */
  messageId: string;
  /** MsgId of the pain.001 that it reports on. */
  originalMessageId: string;
  group: BankStatus;
  payments: PaymentStatus[];
}

/** Status and reasons at one level of a report. They may be at different levels. */
export interface BankStatus {
  /** ISO 20022 external status code, e.g. ACSC. */
  status?: string;
  /** All reason codes; the first one is shown. */
  reasons: readonly string[];
  description?: string;
}

export interface PaymentStatus extends BankStatus {
  originalPaymentId?: string;
  transactions: TransactionStatus[];
}

export interface TransactionStatus extends BankStatus {
  endToEndId?: string;
  /** The bank's reference of the transaction. */
  bankReference?: string;
}

/** A report's statement about one transfer. */
export interface Statement extends BankStatus {
  status: string;
  /** Applies to the whole message; the report may also name this transfer. */
  general: boolean;
  /** The report names the transfer with this status. */
  named: boolean;
  bankReference?: string;
}

export interface Statements {
  /** In the order of the report; usually one per transfer. */
  byReference: Map<string, Statement[]>;
  /** For transfers that the report does not name. */
  forTheRest?: Statement;
  /** The contradicting statuses, if the report is unclear about those transfers. */
  unclearRest?: string;
  problems: string[];
}

/** Only the transactions' own statuses count. */
const PARTIAL = 'PART';

/** Applies the statuses of group and payment to transfers without a status of their own. */
export function statementsOf(report: StatusReport): Statements {
  const byReference = new Map<string, Statement[]>();
  const problems: string[] = [];
  const rest = restOf(report);
  const ofAll = [report.group.status, rest.forTheRest?.status];
  for (const payment of report.payments) {
    for (const transaction of payment.transactions) {
      const { endToEndId } = transaction;
      const said = statementOf(transaction, [payment, report.group]);
      if (endToEndId === undefined) problems.push('a transaction without OrgnlEndToEndId');
      else if (said === undefined) problems.push(`${endToEndId} without a status`);
      else {
        const statement = { ...said, general: ofAll.includes(said.status) };
        const told = byReference.get(endToEndId) ?? [];
        told.push(statement);
        byReference.set(endToEndId, told);
      }
    }
  }
  if (byReference.size === 0 && Object.keys(rest).length === 0) problems.push('no status that says anything');
  return { byReference, ...rest, problems };
}

/**
 * Takes the nearest status. Higher levels with the same status add their reasons, because banks give the reason at one
 * level and repeat the bare status at the others. A PART adds its reasons to a rejection, which it may explain.
 */
function statementOf(
  own: Partial<TransactionStatus>,
  above: readonly BankStatus[],
): Omit<Statement, 'general'> | undefined {
  const { bankReference } = own;
  const levels = [{ reasons: [], ...own }, ...above];
  const status = levels.find((level) => level.status !== undefined)?.status;
  if (status === undefined || status === PARTIAL) return undefined;
  const explaining = levels.filter(
    (level) =>
      level.status === undefined || level.status === status || (level.status === PARTIAL && status === REJECTED),
  );
  const description = explaining.find((level) => level.description !== undefined)?.description;
  return {
    status,
    reasons: explaining.flatMap(({ reasons }) => reasons),
    ...(description === undefined ? {} : { description }),
    ...(bankReference === undefined ? {} : { bankReference }),
    named: own.status !== undefined,
  };
}

/**
 * Our messages have one payment each, so its status applies to all its transfers. If a bank splits it into blocks, or
 * reports the group as partial, each status may apply only to the transfers beside it.
 */
function restOf({ group, payments }: StatusReport): Pick<Statements, 'forTheRest' | 'unclearRest'> {
  const ofEach = payments.map(({ status = group.status }) => status);
  // An early acceptance of the group does not contradict a later status of its payment.
  const contradicts = group.status === PARTIAL || [group.status, ...ofEach].includes(REJECTED);
  const different = new Set(contradicts && group.status !== undefined ? [group.status, ...ofEach] : ofEach);
  if (different.size > 1) return { unclearRest: [...different].map((status = 'none') => status).join(' and ') };
  const naming = payments.filter(({ transactions }) => transactions.length > 0);
  if (group.status === undefined && naming.length > 1)
    return { unclearRest: `${[...different].join()} in several blocks` };
  const said = statementOf({}, [...payments, group]);
  return said === undefined ? {} : { forTheRest: { ...said, general: true } };
}

/** What we know about a transfer so far. */
export type Fate = 'open' | 'settled' | 'declined' | 'returned';

export interface Known {
  fate: Fate;
  /** The bank may have the file twice, so a status of the whole message may refer to either copy. */
  writtenAgain: boolean;
  /** It was declined by name, not with the whole message. */
  declinedByName: boolean;
}

export type Reading =
  /** Changes nothing. */
  | { kind: 'nothing-new' }
  /** On its way. */
  | { kind: 'submitted' }
  | { kind: 'settled' }
  | { kind: 'declined'; code: ResponseCode }
  | { kind: 'returned'; reasonCode: string }
  /** An operator must look at it; the transfer does not change. */
  | { kind: 'doubtful'; problem: string };

/** Accepted up to some point; not final. */
const ON_ITS_WAY = new Set(['RCVD', 'ACTC', 'ACCP', 'ACWC', 'ACFC', 'ACSP', 'ACWP', 'PDNG']);
/** ACSC: settled at the debtor's bank. ACCC: the creditor has it. */
const SETTLED = new Set(['ACSC', 'ACCC']);
const REJECTED = 'RJCT';

/** A return without a reason (ISO 20022 `narrative`). */
const NO_REASON = 'NARR';

/** Interprets a statement, given what we know. Reports may be repeated and out of order. */
export function readStatement(known: Known, statement: Statement): Reading {
  const { fate } = known;
  const { status } = statement;
  if (ON_ITS_WAY.has(status)) return fate === 'open' ? { kind: 'submitted' } : { kind: 'nothing-new' };
  if (SETTLED.has(status)) return readSettlement(known, statement);
  if (status === REJECTED) return readRejection(known, statement);
  return { kind: 'doubtful', problem: `status ${status} is not known` };
}

function readSettlement({ fate, declinedByName }: Known, { named }: Statement): Reading {
  switch (fate) {
    case 'open':
      return { kind: 'settled' };
    case 'declined':
      // A settlement of the whole message excludes transfers that were declined by name. Any other settlement contradicts
      // the decline, and the payout's owner reports that.
      return declinedByName && !named ? { kind: 'nothing-new' } : { kind: 'settled' };
    case 'settled':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}

function readRejection({ fate, writtenAgain }: Known, { reasons, general }: Statement): Reading {
  const duplicate = reasons.find(isDuplicateReason);
  if (duplicate !== undefined) return { kind: 'doubtful', problem: `rejected as a duplicate (${duplicate})` };
  const [reason] = reasons;
  switch (fate) {
    case 'open':
      return general && writtenAgain
        ? { kind: 'doubtful', problem: 'the whole message rejected, which may have been sent twice' }
        : { kind: 'declined', code: codeOfRejection(reason) };
    case 'settled':
      return general
        ? { kind: 'doubtful', problem: 'the whole message rejected after it was settled' }
        : { kind: 'returned', reasonCode: reason ?? NO_REASON };
    case 'declined':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}
