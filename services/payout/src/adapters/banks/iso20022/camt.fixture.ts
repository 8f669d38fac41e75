import { OUR_IBAN } from './iso20022.fixture';

/** A transaction of an entry; amounts are texts like `31.01 EUR`. */
export interface Transaction {
  endToEndId?: string;
  messageId?: string;
  paymentId?: string;
  amount?: string;
  bankReference?: string;
  returned?: string;
}

export interface BankEntry {
  amount?: string;
  side?: 'DBIT' | 'CRDT';
  status?: string;
  reversal?: string;
  bankReference?: string;
  transactions?: readonly Transaction[];
  /** In place of transactions; `amount` is what the batch says of itself. */
  batch?: Transaction;
}

export interface BankStatementFile {
  message?: 'camt.053' | 'camt.054';
  version?: number;
  id?: string;
  account?: string;
  /** Balances like `100.00`. */
  opening?: string;
  closing?: string;
  entries?: readonly BankEntry[];
}

/** Amount of each transfer of `emit`. */
export const SENT = '31.01 EUR';
/** From these versions on, a transaction has an amount, and the status of an entry is a choice. */
const [FIRST_AMOUNT, FIRST_CHOICE] = [3, 7];

/** A camt.053 or camt.054 as banks write them, valid by the schema of its version. */
export function camt(file: BankStatementFile): string {
  const { message = 'camt.053', version = 8, id = 'S-1', account = OUR_IBAN, opening, closing, entries = [] } = file;
  const [root, report] = message === 'camt.053' ? ['BkToCstmrStmt', 'Stmt'] : ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'];
  const namespace = `urn:iso:std:iso:20022:tech:xsd:${message}.001.${String(version).padStart(2, '0')}`;
  const created = '<CreDtTm>2026-11-26T20:00:00Z</CreDtTm>';
  // A statement has at least one.
  const interim = message === 'camt.053' && opening === undefined ? '0.00' : undefined;
  const balances = balance('OPBD', opening) + balance('CLBD', closing) + balance('ITBD', interim);
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${namespace}"><${root}><GrpHdr><MsgId>G-${id}</MsgId>${created}</GrpHdr><${report}><Id>${id}</Id>
${created}<Acct><Id><IBAN>${account}</IBAN></Id></Acct>${balances}${entries.map((one) => entry(one, version)).join('')}
</${report}></${root}></Document>`;
}

function balance(kind: string, value?: string): string {
  if (value === undefined) return '';
  const type = `<Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp>`;
  return `<Bal>${type}${amount(`${value} EUR`)}<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-26</Dt></Dt></Bal>`;
}

function entry(one: BankEntry, version: number): string {
  const { side = 'DBIT', status = 'BOOK', reversal, bankReference, transactions = [], batch } = one;
  const total = batch?.amount === undefined ? '' : amount(batch.amount).replaceAll('Amt', 'TtlAmt');
  const details =
    batch === undefined
      ? transactions.map((each) => transaction(each, side, version)).join('')
      : `<Btch>${element('MsgId', batch.messageId)}${element('PmtInfId', batch.paymentId)}${total}</Btch>`;
  const said = version < FIRST_CHOICE ? status : `<Cd>${status}</Cd>`;
  return `<Ntry>${amount(one.amount ?? SENT)}<CdtDbtInd>${side}</CdtDbtInd>${element('RvslInd', reversal)}
<Sts>${said}</Sts>${element('AcctSvcrRef', bankReference)}<BkTxCd/><NtryDtls>${details}</NtryDtls></Ntry>`;
}

function transaction(one: Transaction, side: string, version: number): string {
  const { messageId, bankReference, paymentId, endToEndId, returned } = one;
  const references = [
    element('MsgId', messageId) + element('AcctSvcrRef', bankReference),
    element('PmtInfId', paymentId) + element('EndToEndId', endToEndId),
  ].join('');
  const ofOwn = `${one.amount === undefined ? '' : amount(one.amount)}<CdtDbtInd>${side}</CdtDbtInd>`;
  const inDetails = one.amount === undefined ? '' : `<AmtDtls><TxAmt>${amount(one.amount)}</TxAmt></AmtDtls>`;
  const own = version < FIRST_AMOUNT || one.amount === undefined ? inDetails : ofOwn;
  const reason =
    returned === undefined ? '' : `<RtrInf><Rsn><Cd>${returned}</Cd></Rsn><AddtlInf>sent back</AddtlInf></RtrInf>`;
  return `<TxDtls><Refs>${references}</Refs>${own}${reason}</TxDtls>`;
}

function amount(value: string): string {
  const [digits, currency] = value.split(' ');
  return `<Amt Ccy="${currency}">${digits}</Amt>`;
}

function element(name: string, value?: string): string {
  return value === undefined ? '' : `<${name}>${value}</${name}>`;
}

/** A pacs.004 that sends these transfers back. */
export function pacs004(
  version: number,
  returns: readonly { endToEndId?: string; amount?: string; reason?: string }[],
): string {
  const namespace = `urn:iso:std:iso:20022:tech:xsd:pacs.004.001.${String(version).padStart(2, '0')}`;
  const transactions = returns.map(({ endToEndId, amount: back = SENT, reason = 'AC04' }, index) => {
    const [digits, currency] = back.split(' ');
    return `<TxInf><RtrId>RTR-${index}</RtrId>${element('OrgnlEndToEndId', endToEndId)}
<RtrdIntrBkSttlmAmt Ccy="${currency}">${digits}</RtrdIntrBkSttlmAmt>
<RtrRsnInf><Rsn><Cd>${reason}</Cd></Rsn></RtrRsnInf></TxInf>`;
  });
  return `<Document xmlns="${namespace}"><PmtRtr><GrpHdr><MsgId>P-1</MsgId></GrpHdr>${transactions.join('')}</PmtRtr></Document>`;
}
