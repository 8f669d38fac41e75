import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '@gateway/accounts';
import type { PaymentInstruction } from '../../../application/bank-ports';

export const OUR_IBAN = 'DE89370400440532013000';
export const OTHER_IBAN = 'AT611904300234573201';

export const DEBTORS = [
  { name: 'Gateway Ltd', iban: OUR_IBAN, bic: 'COBADEFFXXX' },
  { name: 'Gateway Austria', iban: OTHER_IBAN },
];

/** As far as a cut looks at it. */
export const PAYING_ACCOUNT = {
  state: 'active',
  transactionTypes: ['PAYOUT'],
  payoutRules: [{ kind: 'daily-amount', currency: 'EUR', maxE4: 100_000_000 }],
  payoutDebtor: OUR_IBAN,
} as unknown as Account;

/** Settings with directories of their own. */
export function testSettings(change: Record<string, string> = {}, debtors: unknown = DEBTORS): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'iso20022-'));
  writeFileSync(join(directory, 'debtors.json'), JSON.stringify(debtors));
  return {
    ISO20022_OUTBOX_DIR: join(directory, 'outbox'),
    ISO20022_INBOX_DIR: join(directory, 'inbox'),
    ISO20022_DEBTORS: join(directory, 'debtors.json'),
    ISO20022_INITIATING_PARTY: 'Gateway Ltd',
    ISO20022_POLL_MS: '20',
    ...change,
  };
}

export function instruction(reference: string, change: Partial<PaymentInstruction> = {}): PaymentInstruction {
  return {
    reference,
    merchantAccount: 'merchant_de',
    amountE4: 310_100,
    currency: 'EUR',
    instant: false,
    receiver: { iban: 'NL91ABNA0417164300', name: 'Zoë Ångström', address: {} },
    description: 'Winnings',
    acceptedAt: 1_700_000_000_000,
    debtor: OUR_IBAN,
    ...change,
  };
}

interface ReportedTransaction {
  reference?: string;
  status?: string;
  reason?: string;
  /** Listed before `reason`. */
  firstReason?: string;
  /** OrgnlInstrId. */
  instruction?: string;
  /** The echoed amount, with its currency: `31.01 EUR`. */
  amount?: string;
}

/** A pain.002 as banks write it. */
export function pain002(report: {
  message: string;
  id?: string;
  version?: string;
  group?: string;
  groupReason?: string;
  /** The echoed number and sum. */
  count?: string;
  sum?: string;
  payment?: string;
  transactions?: readonly ReportedTransaction[];
  /** Replaces one of these transactions. */
  blocks?: readonly { status?: string; transactions: readonly ReportedTransaction[] }[];
}): string {
  const { message, id = 'REPORT-1', version = '12', payment = message, transactions = [] } = report;
  const { blocks = transactions.length === 0 ? [] : [{ transactions }] } = report;
  const reasons = (reason?: string) =>
    reason === undefined
      ? ''
      : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn><AddtlInf>because of</AddtlInf><AddtlInf>${reason} &amp; such</AddtlInf></StsRsnInf>`;
  const element = (name: string, value?: string) => (value === undefined ? '' : `<${name}>${value}</${name}>`);
  const original = (amount?: string) => {
    const [value, currency] = amount?.split(' ') ?? [];
    return value === undefined
      ? ''
      : `<OrgnlTxRef><Amt><InstdAmt Ccy="${currency}">${value}</InstdAmt></Amt></OrgnlTxRef>`;
  };
  const listed = (all: readonly ReportedTransaction[]) =>
    all.map(
      ({ instruction: instructed, reference, status, firstReason, reason, amount }) =>
        `<TxInfAndSts>${element('OrgnlInstrId', instructed)}${element('OrgnlEndToEndId', reference)}${element('TxSts', status)}${reasons(firstReason)}${reasons(reason)}<AcctSvcrRef>BANK-1</AcctSvcrRef>${original(amount)}</TxInfAndSts>`,
    );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}"><CstmrPmtStsRpt>`,
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>2026-11-21T10:00:00Z</CreDtTm></GrpHdr>`,
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>`,
    `${element('OrgnlNbOfTxs', report.count)}${element('OrgnlCtrlSum', report.sum)}${element('GrpSts', report.group)}${reasons(report.groupReason)}</OrgnlGrpInfAndSts>`,
    ...blocks.map(
      (block) =>
        `<OrgnlPmtInfAndSts><OrgnlPmtInfId>${payment}</OrgnlPmtInfId>${element('PmtInfSts', block.status)}${listed(block.transactions).join('')}</OrgnlPmtInfAndSts>`,
    ),
    '</CstmrPmtStsRpt></Document>',
  ].join('\n');
}
