import type { AccountReport, AccountStatement, Balance, Booking, Entry, Side } from '../../../domain/iso20022/booking';
import type { EchoedAmount } from '../../../domain/iso20022/status-report';
import { AMOUNT, amounts, node, nodes, REASON, reasons, text } from './content';
import type { Content, Shape } from './xml-content';

const TRANSACTION = {
  Refs: { MsgId: 'text', PmtInfId: 'text', EndToEndId: 'text', AcctSvcrRef: 'text' },
  Amt: AMOUNT,
  CdtDbtInd: 'text',
  AmtDtls: { TxAmt: { Amt: AMOUNT } },
  RtrInf: REASON,
} as const satisfies Shape;
const BATCH = { MsgId: 'text', PmtInfId: 'text', TtlAmt: AMOUNT } as const satisfies Shape;
const BALANCE = { Tp: { CdOrPrtry: { Cd: 'text' } }, Amt: AMOUNT, CdtDbtInd: 'text' } as const satisfies Shape;

/** Until .06 the status of an entry is a text, then a choice. */
const LAST_PLAIN_STATUS = 6;

/** The parts of a camt.053 or camt.054 of a version that we use. */
export function accountReportShape(version: number): Shape {
  const Ntry: Shape = {
    Amt: AMOUNT,
    ...{ CdtDbtInd: 'text', RvslInd: 'text', AcctSvcrRef: 'text' },
    Sts: version <= LAST_PLAIN_STATUS ? 'text' : { Cd: 'text', Prtry: 'text' },
    NtryDtls: { Btch: BATCH, TxDtls: TRANSACTION },
  };
  const report: Shape = {
    Id: 'text',
    Acct: { Id: { IBAN: 'text' } },
    Bal: BALANCE,
    Ntry,
  };
  const head = { GrpHdr: { MsgId: 'text' } } as const;
  return {
    Document: { BkToCstmrStmt: { ...head, Stmt: report }, BkToCstmrDbtCdtNtfctn: { ...head, Ntfctn: report } },
  };
}

/** What was read by {@link accountReportShape} from a valid document. */
export function readAccountReport(content: Content): AccountReport {
  const document = node(content, 'Document');
  const report = { ...node(document, 'BkToCstmrStmt'), ...node(document, 'BkToCstmrDbtCdtNtfctn') };
  return {
    messageId: text(node(report, 'GrpHdr'), 'MsgId') ?? '',
    statements: [...nodes(report, 'Stmt'), ...nodes(report, 'Ntfctn')].map(statementOf),
  };
}

function statementOf(statement: Content): AccountStatement {
  const account = text(node(node(statement, 'Acct'), 'Id'), 'IBAN');
  const balances = nodes(statement, 'Bal');
  const [opening, closing] = [balanceOf(balances, ['OPBD', 'PRCD']), balanceOf(balances, ['CLBD'])];
  return {
    id: text(statement, 'Id') ?? '',
    ...(account === undefined ? {} : { account }),
    ...(opening === undefined ? {} : { opening }),
    ...(closing === undefined ? {} : { closing }),
    entries: nodes(statement, 'Ntry').map(entryOf),
  };
}

function balanceOf(balances: readonly Content[], kinds: readonly string[]): Balance | undefined {
  const kindOf = (balance: Content): string => text(node(node(balance, 'Tp'), 'CdOrPrtry'), 'Cd') ?? '';
  const found = balances.find((balance) => kinds.includes(kindOf(balance)));
  return found && moneyOf(found);
}

function entryOf(entry: Content): Entry {
  const status = text(entry, 'Sts') ?? text(node(entry, 'Sts'), 'Cd') ?? '';
  const details = nodes(entry, 'NtryDtls');
  return {
    ...moneyOf(entry),
    isBooked: status === 'BOOK',
    isReversal: isTrue(text(entry, 'RvslInd')),
    bookings: details.flatMap((one) => bookingsOf(one, entry, details.length === 1)),
  };
}

/** The transactions of an entry. An entry in one sum has a batch in their place. @param isOnly the entry has no other details */
function bookingsOf(details: Content, entry: Content, isOnly: boolean): Booking[] {
  const transactions = nodes(details, 'TxDtls');
  if (transactions.length > 0) {
    const isAlone = isOnly && transactions.length === 1;
    return transactions.map((transaction) => bookingOf(transaction, entry, isAlone));
  }
  return nodes(details, 'Btch')
    .slice(0, 1)
    .map((batch) => ({
      ...booked(entry, amounts(batch, 'TtlAmt'), isOnly),
      ...idsOf(batch),
      ...referenceOf(text(entry, 'AcctSvcrRef')),
    }));
}

function bookingOf(transaction: Content, entry: Content, isAlone: boolean): Booking {
  const references = node(transaction, 'Refs');
  const own = [...amounts(transaction, 'Amt'), ...amounts(node(node(transaction, 'AmtDtls'), 'TxAmt'), 'Amt')];
  const reference = text(references, 'AcctSvcrRef') ?? (isAlone ? text(entry, 'AcctSvcrRef') : undefined);
  const returned = nodes(transaction, 'RtrInf');
  const side = text(transaction, 'CdtDbtInd') === undefined ? sideOf(entry) : sideOf(transaction);
  return {
    ...booked(entry, own, isAlone),
    side,
    ...idsOf(references),
    ...referenceOf(reference),
    ...(returned.length === 0 ? {} : { returned: reasonOf(returned) }),
  };
}

/**
 * What was booked is the entry's amount. Details say how it is divided; what they say of an entry that is theirs alone is
 * an echo.
 */
function booked(entry: Content, own: readonly EchoedAmount[], isAlone: boolean): Balance & Pick<Booking, 'echoes'> {
  if (isAlone) return { ...moneyOf(entry), ...(own.length === 0 ? {} : { echoes: own }) };
  const [amount = { amount: '', currency: '' }, ...echoes] = own;
  return { ...amount, side: sideOf(entry), ...(echoes.length === 0 ? {} : { echoes }) };
}

function referenceOf(bankReference: string | undefined): Pick<Booking, 'bankReference'> {
  return bankReference === undefined ? {} : { bankReference };
}

function idsOf(parent: Content): Pick<Booking, 'messageId' | 'paymentId' | 'endToEndId'> {
  const [messageId, paymentId, endToEndId] = ['MsgId', 'PmtInfId', 'EndToEndId'].map((name) => text(parent, name));
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...(paymentId === undefined ? {} : { paymentId }),
    ...(endToEndId === undefined ? {} : { endToEndId }),
  };
}

/** The first reason of a return. */
export function reasonOf(infos: readonly Content[]): NonNullable<Booking['returned']> {
  const { codes, ...words } = reasons(infos);
  const [code] = codes;
  return { ...(code === undefined ? {} : { code }), ...words };
}

function moneyOf(parent: Content): Balance {
  const [amount = { amount: '', currency: '' }] = amounts(parent, 'Amt');
  return { ...amount, side: sideOf(parent) };
}

function sideOf(parent: Content): Side {
  return text(parent, 'CdtDbtInd') === 'DBIT' ? 'debit' : 'credit';
}

/** An xs:boolean may have white space around it. */
function isTrue(value = ''): boolean {
  return ['true', '1'].includes(value.trim());
}
