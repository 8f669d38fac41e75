import type { AccountReport, AccountStatement, Balance, Booking, Entry } from '../../../domain/iso20022/booking';
import { description, node, nodes, text } from './content';
import type { Content, Shape } from './xml-content';

const AMOUNT = { '@Ccy': 'text', '#text': 'text' } as const satisfies Shape;
const REASON = { Rsn: { Cd: 'text', Prtry: 'text' }, AddtlInf: 'text' } as const satisfies Shape;
const TRANSACTION = {
  Refs: { MsgId: 'text', PmtInfId: 'text', EndToEndId: 'text', AcctSvcrRef: 'text' },
  Amt: AMOUNT,
  CdtDbtInd: 'text',
  AmtDtls: { TxAmt: { Amt: AMOUNT }, InstdAmt: { Amt: AMOUNT } },
  RtrInf: REASON,
} as const satisfies Shape;
const BATCH = { MsgId: 'text', PmtInfId: 'text', NbOfTxs: 'text', TtlAmt: AMOUNT } as const satisfies Shape;
const BALANCE = { Tp: { CdOrPrtry: { Cd: 'text' } }, Amt: AMOUNT, CdtDbtInd: 'text' } as const satisfies Shape;

/** Until .06 the status of an entry is a text, then a choice. */
const LAST_PLAIN_STATUS = 6;

/** The parts of a camt.053 or camt.054 of a version that we use. */
export function ACCOUNT_REPORT_SHAPES(version: number): Shape {
  const Ntry: Shape = {
    Amt: AMOUNT,
    ...{ CdtDbtInd: 'text', RvslInd: 'text', AcctSvcrRef: 'text' },
    Sts: version <= LAST_PLAIN_STATUS ? 'text' : { Cd: 'text', Prtry: 'text' },
    NtryDtls: { Btch: BATCH, TxDtls: TRANSACTION },
  };
  const report: Shape = {
    ...{ Id: 'text', ElctrncSeqNb: 'text', LglSeqNb: 'text' },
    Acct: { Id: { IBAN: 'text', Othr: { Id: 'text' } } },
    Bal: BALANCE,
    Ntry,
  };
  const head = { GrpHdr: { MsgId: 'text' } } as const;
  return {
    Document: { BkToCstmrStmt: { ...head, Stmt: report }, BkToCstmrDbtCdtNtfctn: { ...head, Ntfctn: report } },
  };
}

/** What was read by one of {@link ACCOUNT_REPORT_SHAPES} from a valid document. */
export function readAccountReport(content: Content): AccountReport {
  const document = node(content, 'Document');
  const report = { ...node(document, 'BkToCstmrStmt'), ...node(document, 'BkToCstmrDbtCdtNtfctn') };
  return {
    messageId: text(node(report, 'GrpHdr'), 'MsgId') ?? '',
    statements: [...nodes(report, 'Stmt'), ...nodes(report, 'Ntfctn')].map(statementOf),
  };
}

function statementOf(statement: Content): AccountStatement {
  const id = node(node(statement, 'Acct'), 'Id');
  const account = text(id, 'IBAN') ?? text(node(id, 'Othr'), 'Id');
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
  return found && { ...amountOf(found, 'Amt'), side: sideOf(found) };
}

function entryOf(entry: Content): Entry {
  const status = text(entry, 'Sts') ?? text(node(entry, 'Sts'), 'Cd') ?? '';
  const details = nodes(entry, 'NtryDtls');
  const all = { ...amountOf(entry, 'Amt'), side: sideOf(entry) };
  return {
    ...all,
    isBooked: status === 'BOOK',
    isReversal: ['true', '1'].includes(text(entry, 'RvslInd') ?? ''),
    bookings: details.flatMap((one) => bookingsOf(one, entry, details.length === 1)),
  };
}

/** The transactions of an entry. An entry in one sum has a batch in their place. */
function bookingsOf(details: Content, entry: Content, isOnly: boolean): Booking[] {
  const transactions = nodes(details, 'TxDtls');
  const side = sideOf(entry);
  const bankReference = text(entry, 'AcctSvcrRef');
  if (transactions.length === 0) {
    const batch = nodes(details, 'Btch').slice(0, 1);
    return batch.map((one) => ({
      ...(nodes(one, 'TtlAmt').length > 0 ? amountOf(one, 'TtlAmt') : amountOf(entry, 'Amt')),
      ...idsOf(one),
      side,
      ...(bankReference === undefined ? {} : { bankReference }),
    }));
  }
  const isAlone = isOnly && transactions.length === 1;
  return transactions.map((transaction) =>
    bookingOf(transaction, { side, bankReference }, isAlone ? entry : undefined),
  );
}

/** @param alone the entry, if it is of this transaction alone: then its amount is the transaction's */
function bookingOf(
  transaction: Content,
  entry: { side: Booking['side']; bankReference: string | undefined },
  alone: Content | undefined,
): Booking {
  const references = node(transaction, 'Refs');
  const details = node(transaction, 'AmtDtls');
  const own = [transaction, node(details, 'TxAmt'), node(details, 'InstdAmt')].find(
    (one) => nodes(one, 'Amt').length > 0,
  );
  const bankReference = text(references, 'AcctSvcrRef') ?? entry.bankReference;
  const returned = nodes(transaction, 'RtrInf');
  const side = text(transaction, 'CdtDbtInd');
  return {
    ...amountOf(own ?? alone ?? {}, 'Amt'),
    ...idsOf(references),
    side: side === undefined ? entry.side : sideOf(transaction),
    ...(bankReference === undefined ? {} : { bankReference }),
    ...(returned.length === 0 ? {} : { returned: reasonOf(returned) }),
  };
}

function idsOf(parent: Content): Pick<Booking, 'messageId' | 'paymentId' | 'endToEndId'> {
  const [messageId, paymentId, endToEndId] = ['MsgId', 'PmtInfId', 'EndToEndId'].map((name) => text(parent, name));
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...(paymentId === undefined ? {} : { paymentId }),
    ...(endToEndId === undefined ? {} : { endToEndId }),
  };
}

/** The reason of a return, at `Rsn` and `AddtlInf`. */
export function reasonOf(infos: readonly Content[]): NonNullable<Booking['returned']> {
  const [code] = infos.map((info) => node(info, 'Rsn')).flatMap((one) => text(one, 'Cd') ?? text(one, 'Prtry') ?? []);
  const said = description(infos, 'AddtlInf');
  return { ...(code === undefined ? {} : { code }), ...(said === undefined ? {} : { description: said }) };
}

/** An empty text if it is not there. */
export function amountOf(parent: Content, name: string): { amount: string; currency: string } {
  const amount = node(parent, name);
  return { amount: text(amount, '#text') ?? '', currency: text(amount, '@Ccy') ?? '' };
}

function sideOf(parent: Content): Booking['side'] {
  return text(parent, 'CdtDbtInd') === 'DBIT' ? 'debit' : 'credit';
}
