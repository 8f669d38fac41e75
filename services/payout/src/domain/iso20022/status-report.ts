import { codeOfRejection, isDuplicateReason } from './reasons';

/** A pain.002, any version, as far as it concerns us. */
export interface StatusReport {
  /** The report's own MsgId. */
  messageId: string;
  /** MsgId of the pain.001 that it is about. */
  originalMessageId: string;
  group?: BankStatus;
  payments: PaymentStatus[];
}

export interface BankStatus {
  /** ISO 20022 external status code, e.g. ACSC. */
  status: string;
  reason?: string;
  description?: string;
}

export interface PaymentStatus {
  originalPaymentId?: string;
  own?: BankStatus;
  transactions: TransactionStatus[];
}

export interface TransactionStatus {
  endToEndId?: string;
  own?: BankStatus;
  /** Of the report where the transaction says only why. */
  reason?: string;
  description?: string;
  /** The bank's own reference of the transaction. */
  bankReference?: string;
}

/** What a report says of one transfer. */
export interface Statement extends BankStatus {
  /** Said of this transfer by name, not of the whole file. */
  individual: boolean;
  bankReference?: string;
}

export interface Statements {
  /** In the order of the report; mostly one each. */
  byReference: Map<string, Statement[]>;
  /** For those of the message that the report does not name. */
  forTheRest?: Statement;
  problems: string[];
}

/** Only its transactions' own statuses say anything. */
const PARTIAL = 'PART';

/** Spreads the statuses of group and payment over the transfers that have none of their own. */
export function statementsOf(report: StatusReport): Statements {
  const byReference = new Map<string, Statement[]>();
  const problems: string[] = [];
  for (const payment of report.payments) {
    for (const transaction of payment.transactions) {
      const { endToEndId } = transaction;
      const statement = statementOf(transaction, inherited(payment, report));
      if (endToEndId === undefined) problems.push('a transaction without OrgnlEndToEndId');
      else if (statement === undefined) problems.push(`${endToEndId} without a status`);
      else byReference.set(endToEndId, [...(byReference.get(endToEndId) ?? []), statement]);
    }
  }
  const forTheRest = statusOfTheRest(report);
  if (byReference.size === 0 && forTheRest === undefined) problems.push('no status that says anything');
  return { byReference, ...(forTheRest === undefined ? {} : { forTheRest }), problems };
}

function inherited(payment: PaymentStatus, report: StatusReport): BankStatus | undefined {
  return [payment.own ?? report.group].find((status) => status !== undefined && status.status !== PARTIAL);
}

function statementOf(transaction: TransactionStatus, above: BankStatus | undefined): Statement | undefined {
  const { own, bankReference } = transaction;
  const said = own ?? above;
  if (said === undefined) return undefined;
  const { reason = said.reason, description = said.description } = transaction;
  return {
    status: said.status,
    ...(reason === undefined ? {} : { reason }),
    ...(description === undefined ? {} : { description }),
    ...(bankReference === undefined ? {} : { bankReference }),
    individual: own !== undefined,
  };
}

/** Our messages have one payment each, so its status is the message's. */
function statusOfTheRest(report: StatusReport): Statement | undefined {
  const [payment] = report.payments;
  const said = payment?.own ?? report.group;
  return said === undefined || said.status === PARTIAL ? undefined : { ...said, individual: false };
}

/** What is known of a transfer so far. */
export type Fate = 'open' | 'settled' | 'declined' | 'returned';

export type Reading =
  /** Changes nothing. */
  | { kind: 'nothing-new' }
  /** On its way. */
  | { kind: 'submitted' }
  | { kind: 'settled' }
  | { kind: 'declined'; code: number }
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
export function readStatement(fate: Fate, statement: Statement): Reading {
  const { status } = statement;
  if (ON_ITS_WAY.has(status)) return fate === 'open' ? { kind: 'submitted' } : { kind: 'nothing-new' };
  if (SETTLED.has(status)) return readSettlement(fate);
  if (status === REJECTED) return readRejection(fate, statement);
  return { kind: 'doubtful', problem: `status ${status} is not known` };
}

function readSettlement(fate: Fate): Reading {
  // Against a decline it stands as news: whoever keeps the payout sees the contradiction.
  return fate === 'open' || fate === 'declined' ? { kind: 'settled' } : { kind: 'nothing-new' };
}

function readRejection(fate: Fate, { reason, individual }: Statement): Reading {
  if (isDuplicateReason(reason)) return { kind: 'doubtful', problem: `rejected as a duplicate (${reason})` };
  switch (fate) {
    case 'open':
      return { kind: 'declined', code: codeOfRejection(reason) };
    case 'settled':
      return individual
        ? { kind: 'returned', reasonCode: reason ?? NO_REASON }
        : { kind: 'doubtful', problem: 'the whole message rejected after it was settled' };
    case 'declined':
    case 'returned':
      return { kind: 'nothing-new' };
  }
}
