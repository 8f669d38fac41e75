import type { ResponseCode } from '@gateway/contracts';
import { codeOfRejection, isDuplicateReason } from './reasons';

/** A pain.002, any version, as far as it concerns us. */
export interface StatusReport {
  /** The report's own MsgId. */
  messageId: string;
  /** MsgId of the pain.001 that it is about. */
  originalMessageId: string;
  group: BankStatus;
  payments: PaymentStatus[];
}

/** What a report says at one of its levels; the status may stand at another one than the reasons. */
export interface BankStatus {
  /** ISO 20022 external status code, e.g. ACSC. */
  status?: string;
  /** Codes, as many as the bank gives; the first one is shown. */
  reasons: readonly string[];
  description?: string;
}

export interface PaymentStatus extends BankStatus {
  originalPaymentId?: string;
  transactions: TransactionStatus[];
}

export interface TransactionStatus extends BankStatus {
  endToEndId?: string;
  /** The bank's own reference of the transaction. */
  bankReference?: string;
}

/** What a report says of one transfer. */
export interface Statement extends BankStatus {
  status: string;
  /** Said of the whole message, and of this transfer perhaps once more by name. */
  general: boolean;
  /** The transfer is named with this status. */
  named: boolean;
  bankReference?: string;
}

export interface Statements {
  /** In the order of the report; mostly one each. */
  byReference: Map<string, Statement[]>;
  /** For those of the message that the report does not name. */
  forTheRest?: Statement;
  /** What keeps the report from saying anything of them, where it says several things. */
  unclearRest?: string;
  problems: string[];
}

/** Only its transactions' own statuses say anything. */
const PARTIAL = 'PART';

/** Spreads the statuses of group and payment over the transfers that have none of their own. */
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
 * The status is the nearest one. Levels above that say the same give their reasons, too: banks write why at one level and
 * repeat the bare status at the others. So does a PART, where something was rejected, for it may say why that was.
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
 * Our messages have one payment each, so its status is that of all its transfers. A bank that makes several blocks of it,
 * or whose group says that it is a part, may mean by each status the transfers beside it alone.
 */
function restOf({ group, payments }: StatusReport): Pick<Statements, 'forTheRest' | 'unclearRest'> {
  const ofEach = payments.map(({ status = group.status }) => status);
  // A group that accepted for a start does not contradict what its payment has come to since.
  const contradicts = group.status === PARTIAL || [group.status, ...ofEach].includes(REJECTED);
  const different = new Set(contradicts && group.status !== undefined ? [group.status, ...ofEach] : ofEach);
  if (different.size > 1) return { unclearRest: [...different].map((status = 'none') => status).join(' and ') };
  const naming = payments.filter(({ transactions }) => transactions.length > 0);
  if (group.status === undefined && naming.length > 1)
    return { unclearRest: `${[...different].join()} in several blocks` };
  const said = statementOf({}, [...payments, group]);
  return said === undefined ? {} : { forTheRest: { ...said, general: true } };
}

/** What is known of a transfer so far. */
export type Fate = 'open' | 'settled' | 'declined' | 'returned';

export interface Known {
  fate: Fate;
  /** Its file may be at the bank more than once: what is said of the whole message may be said of either copy. */
  writtenAgain: boolean;
  /** It was declined by a word about itself, not about the whole message. */
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
  /** For an operator to look at; the transfer stays as it is. */
  | { kind: 'doubtful'; problem: string };

/** Accepted up to some point, none of which is the end. */
const ON_ITS_WAY = new Set(['RCVD', 'ACTC', 'ACCP', 'ACWC', 'ACFC', 'ACSP', 'ACWP', 'PDNG']);
/** ACSC: settled at the debtor's bank. ACCC: the creditor has it. */
const SETTLED = new Set(['ACSC', 'ACCC']);
const REJECTED = 'RJCT';

/** A return whose reason the bank kept to itself (ISO 20022's `narrative`). */
const NO_REASON = 'NARR';

/** Reads a statement in the light of what is known. Reports come twice and out of order. */
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
      // That the message was settled is said of what was left of it. Else it stands as news against the decline: whoever
      // keeps the payout sees the contradiction.
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
