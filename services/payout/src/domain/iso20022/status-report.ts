import type { FinalCode } from '@gateway/contracts';
import { euroText, saysEuros } from './euro';
import { codeOfRejection, isAboutTheFile, isAboutThePayment, isDuplicateReason } from './reasons';

/** The parts of a pain.002, of any version, that we use. */
export interface StatusReport {
  /** The report's own MsgId. */
  messageId: string;
  /** MsgId of the pain.001 that it reports on. */
  originalMessageId: string;
  group: BankStatus & { totals?: EchoedTotals };
  payments: PaymentStatus[];
}

/** What the report says that our message contained; decimal texts. */
export interface EchoedTotals {
  count?: string;
  sum?: string;
}

/** An amount that the report says we ordered. `amount` is a decimal text. */
export interface EchoedAmount {
  amount: string;
  currency: string;
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
  totals?: EchoedTotals;
  transactions: TransactionStatus[];
}

export interface TransactionStatus extends BankStatus {
  endToEndId?: string;
  /** The bank's reference of the transaction. */
  bankReference?: string;
  amounts?: readonly EchoedAmount[];
}

/** A report's statement about one transfer. */
export interface Statement extends BankStatus {
  status: string;
  /** Applies to the whole message; the report may also name this transfer. */
  general: boolean;
  /** The report names the transfer with this status. */
  named: boolean;
  bankReference?: string;
  amounts?: readonly EchoedAmount[];
}

export interface Statements {
  /** In the order of the report; usually one per transfer. */
  byReference: Map<string, Statement[]>;
  /** About transactions that have no id. */
  withoutId: Statement[];
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
  const withoutId: Statement[] = [];
  const problems: string[] = [];
  const rest = restOf(report);
  const ofAll = [report.group.status, rest.forTheRest?.status];
  for (const payment of report.payments) {
    for (const transaction of payment.transactions) {
      const { endToEndId } = transaction;
      const said = statementOf(transaction, [payment, report.group]);
      const statement = said && { ...said, general: ofAll.includes(said.status) };
      if (endToEndId === undefined) {
        problems.push('a transaction without OrgnlEndToEndId');
        if (statement !== undefined) withoutId.push(statement);
      } else if (statement === undefined) problems.push(`${endToEndId} without a status`);
      else {
        const told = byReference.get(endToEndId) ?? [];
        told.push(statement);
        byReference.set(endToEndId, told);
      }
    }
  }
  if (byReference.size === 0 && withoutId.length === 0 && Object.keys(rest).length === 0) {
    problems.push('no status that says anything');
  }
  return { byReference, withoutId, ...rest, problems };
}

/**
 * What the report says about transfers that it does not name, once it is known which of its transactions are ours. The
 * general status decides about none of them while a transaction with another status, or with an amount that we did not
 * order, may be any of them, or while a transaction contradicts the rejection of the whole.
 */
export function restWithout(
  said: Pick<Statements, 'forTheRest' | 'unclearRest' | 'byReference' | 'withoutId'>,
  { unmatched, differing }: { unmatched: readonly Statement[]; differing: readonly Statement[] },
): Pick<Statements, 'forTheRest' | 'unclearRest'> {
  const { forTheRest, unclearRest } = said;
  if (forTheRest === undefined) return unclearRest === undefined ? {} : { unclearRest };
  if (!isFinal(forTheRest.status)) return { forTheRest };
  const { status } = forTheRest;
  const other = unmatched.find((one) => one.status !== status);
  if (other !== undefined) return { unclearRest: `${status}, and ${other.status} of a transaction that is not ours` };
  if (differing.length > 0) return { unclearRest: `${status}, and amounts that are not ours` };
  const contradiction = contradictionOf(forTheRest, [...said.byReference.values()].flat());
  return contradiction === undefined ? { forTheRest } : { unclearRest: `${status}, and ${contradiction}` };
}

/**
 * A bank that rejects a message carries out none of it, and one that has a duplicate has the first. A settlement of the
 * whole may have exceptions.
 */
function contradictionOf({ status, reasons }: Statement, transactions: readonly Statement[]): string | undefined {
  if (status !== REJECTED) return undefined;
  const other = transactions.find((one) => one.status !== REJECTED);
  if (other !== undefined) return `${other.status} of a transaction`;
  if (reasons.some(isDuplicateReason)) return undefined;
  return transactions.some((one) => one.reasons.some(isDuplicateReason)) ? 'a transaction is a duplicate' : undefined;
}

function isFinal(status: string): boolean {
  return SETTLED.has(status) || status === REJECTED;
}

/** What we sent in one message. */
export interface SentTotals {
  payouts: number;
  totalE4: number;
}

/** The number and sum that a report echoes, where they are not those of our message, with both values. */
export function differencesOf({ group, payments }: StatusReport, { payouts, totalE4 }: SentTotals): string[] {
  const differences = [group, ...payments].flatMap(({ totals: { count, sum } = {} }) => [
    ...(count === undefined || Number(count) === payouts ? [] : [`OrgnlNbOfTxs ${count} where ${payouts} were sent`]),
    ...(sum === undefined || saysEuros(sum, totalE4)
      ? []
      : [`OrgnlCtrlSum ${sum} where ${euroText(totalE4)} was sent`]),
  ]);
  return [...new Set(differences)];
}

/** The first echoed amount that is not the transfer's, with both values. */
export function amountDifference(
  { amounts = [] }: Pick<Statement, 'amounts'>,
  amountE4: number | undefined,
): string | undefined {
  if (amountE4 === undefined) return undefined;
  const wrong = amounts.find(({ amount, currency }) => currency !== 'EUR' || !saysEuros(amount, amountE4));
  return wrong && `${wrong.amount} ${wrong.currency} where ${euroText(amountE4)} EUR was sent`;
}

/**
 * Takes the nearest status. Higher levels with the same status add their reasons, because banks give the reason at one
 * level and repeat the bare status at the others. A PART adds its reasons to a rejection, which it may explain.
 */
function statementOf(
  own: Partial<TransactionStatus>,
  above: readonly BankStatus[],
): Omit<Statement, 'general'> | undefined {
  const { bankReference, amounts } = own;
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
    ...(amounts === undefined ? {} : { amounts }),
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
  /** Only its booking says that a transfer is paid. */
  settledByBooking?: boolean;
  /** The bank may have the file twice, so a status of the whole message may refer to either copy. */
  writtenAgain: boolean;
  /** The bank has said something about the message that is no rejection, so it could read the file. */
  accepted: boolean;
  /** It has said so about this transfer, by name or with the whole message. */
  acceptedItself: boolean;
  /** It was declined by name, not with the whole message. */
  declinedByName: boolean;
  /** Undefined if it is no longer known. */
  amountE4?: number;
}

export type Reading =
  /** Changes nothing. */
  | { kind: 'nothing-new' }
  /** On its way. */
  | { kind: 'submitted' }
  | { kind: 'settled' }
  | { kind: 'declined'; code: FinalCode<'bank-decline'> }
  | { kind: 'returned'; reasonCode: string }
  /** An operator must look at it; the transfer does not change. */
  | { kind: 'doubtful'; problem: string };

/** Accepted up to some point; not final. */
const ON_ITS_WAY = new Set([
  ...['RCVD', 'ACTC', 'ACCP', 'ACWC', 'ACFC', 'ACPD', 'ACFW', 'ACSP', 'ACWP'],
  // It waits at the bank.
  ...['PDNG', 'BLCK'],
]);
/** The payee was verified before the payment: match, close match, no match, not possible. No status of the payment. */
const VERIFIED = new Set(['RCVC', 'RVMC', 'RVNM', 'RVNA']);
/** ACSC: settled at the debtor's bank. ACCC: the creditor has it. */
const SETTLED = new Set(['ACSC', 'ACCC']);
const REJECTED = 'RJCT';

/** A return without a reason (ISO 20022 `narrative`). */
export const NO_REASON = 'NARR';

/** True if the report says anything about the message that is no rejection. */
export function showsAcceptance({ group, payments }: StatusReport): boolean {
  const said = [group, ...payments, ...payments.flatMap(({ transactions }) => transactions)];
  return said.some(({ status }) => status !== undefined && isAcceptance(status));
}

/** Of a status that a bank gives only to a file that it could read. */
export function isAcceptance(status: string): boolean {
  return ON_ITS_WAY.has(status) || VERIFIED.has(status) || SETTLED.has(status);
}

/** Interprets a statement, given what we know. Reports may be repeated and out of order. */
export function readStatement(known: Known, statement: Statement): Reading {
  const { fate, amountE4 } = known;
  const { status } = statement;
  const difference = amountDifference(statement, amountE4);
  if (difference !== undefined) return { kind: 'doubtful', problem: difference };
  if (ON_ITS_WAY.has(status) || VERIFIED.has(status))
    return fate === 'open' ? { kind: 'submitted' } : { kind: 'nothing-new' };
  if (SETTLED.has(status)) return readSettlement(known, statement);
  if (status === REJECTED) return readRejection(known, statement);
  return { kind: 'doubtful', problem: `status ${status} is not known` };
}

function readSettlement({ fate, declinedByName, settledByBooking }: Known, { named }: Statement): Reading {
  switch (fate) {
    case 'open':
      return { kind: settledByBooking === true ? 'submitted' : 'settled' };
    case 'declined':
      // A settlement of the whole message excludes transfers that were declined by name. Any other settlement contradicts
      // the decline, and the payout's owner reports that.
      return declinedByName && !named ? { kind: 'nothing-new' } : { kind: 'settled' };
    case 'settled':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}

function readRejection(known: Known, { reasons, general }: Statement): Reading {
  const duplicate = reasons.find(isDuplicateReason);
  if (duplicate !== undefined) return { kind: 'doubtful', problem: `rejected as a duplicate (${duplicate})` };
  const [reason] = reasons;
  switch (known.fate) {
    case 'open': {
      const problem = doubtAboutRejection(known, { reasons, general });
      return problem === undefined
        ? { kind: 'declined', code: codeOfRejection(reason) }
        : { kind: 'doubtful', problem };
    }
    case 'settled':
      if (general) return { kind: 'doubtful', problem: 'the whole message rejected after it was settled' };
      return reasons.some(isAboutTheFile)
        ? { kind: 'doubtful', problem: `rejected after it was settled, because of the file${reasonsIn(reasons)}` }
        : { kind: 'returned', reasonCode: reason ?? NO_REASON };
    case 'declined':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}

/**
 * Why a rejection does not tell how the payment ends. An agent may deliver one file twice, and the bank then refuses the
 * second one: it has read the first.
 */
function doubtAboutRejection(
  { writtenAgain, accepted, acceptedItself }: Known,
  { reasons, general }: Pick<Statement, 'reasons' | 'general'>,
): string | undefined {
  if (general && writtenAgain) return 'the whole message rejected, which may have been sent twice';
  if (isAboutThePayment(reasons, { general })) return undefined;
  if (general && accepted) return `the whole message rejected${reasonsIn(reasons)} after it was accepted`;
  return acceptedItself ? `rejected${reasonsIn(reasons)} after it was accepted` : undefined;
}

function reasonsIn(reasons: readonly string[]): string {
  return reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
}
