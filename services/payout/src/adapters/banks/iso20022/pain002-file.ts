import type {
  BankStatus,
  EchoedAmount,
  EchoedTotals,
  PaymentStatus,
  StatusReport,
  TransactionStatus,
} from '../../../domain/iso20022/status-report';
import { AMOUNT, amounts, node, nodes, REASON, reasons, text } from './content';
import type { Content, Shape } from './xml-content';

const TOTALS = { OrgnlNbOfTxs: 'text', OrgnlCtrlSum: 'text' } as const satisfies Shape;
const REASONS = { StsRsnInf: REASON } as const satisfies Shape;

/** The parts of a pain.002 that we use, in any version. */
export const PAIN_002_SHAPE: Shape = {
  Document: {
    CstmrPmtStsRpt: {
      GrpHdr: { MsgId: 'text' },
      OrgnlGrpInfAndSts: { OrgnlMsgId: 'text', ...TOTALS, GrpSts: 'text', ...REASONS },
      OrgnlPmtInfAndSts: {
        ...{ OrgnlPmtInfId: 'text', ...TOTALS, PmtInfSts: 'text', ...REASONS },
        TxInfAndSts: {
          ...{ OrgnlEndToEndId: 'text', TxSts: 'text', ...REASONS, AcctSvcrRef: 'text' },
          OrgnlTxRef: { IntrBkSttlmAmt: AMOUNT, Amt: { InstdAmt: AMOUNT, EqvtAmt: { Amt: AMOUNT } } },
        },
      },
    },
  },
};

/** The report in what was read by {@link PAIN_002_SHAPE} from a valid document. */
export function readPain002(content: Content): StatusReport {
  const report = node(node(content, 'Document'), 'CstmrPmtStsRpt');
  const group = node(report, 'OrgnlGrpInfAndSts');
  return {
    messageId: text(node(report, 'GrpHdr'), 'MsgId') ?? '',
    originalMessageId: text(group, 'OrgnlMsgId') ?? '',
    group: { ...statusOf(group, 'GrpSts'), ...totalsOf(group) },
    payments: nodes(report, 'OrgnlPmtInfAndSts').map(paymentOf),
  };
}

function paymentOf(payment: Content): PaymentStatus {
  const originalPaymentId = text(payment, 'OrgnlPmtInfId');
  return {
    ...(originalPaymentId === undefined ? {} : { originalPaymentId }),
    ...statusOf(payment, 'PmtInfSts'),
    ...totalsOf(payment),
    transactions: nodes(payment, 'TxInfAndSts').map(transactionOf),
  };
}

function transactionOf(transaction: Content): TransactionStatus {
  const endToEndId = text(transaction, 'OrgnlEndToEndId');
  const bankReference = text(transaction, 'AcctSvcrRef');
  const echoed = amountsOf(node(transaction, 'OrgnlTxRef'));
  return {
    ...(endToEndId === undefined ? {} : { endToEndId }),
    ...statusOf(transaction, 'TxSts'),
    ...(bankReference === undefined ? {} : { bankReference }),
    ...(echoed.length === 0 ? {} : { amounts: echoed }),
  };
}

function totalsOf(parent: Content): { totals?: EchoedTotals } {
  const count = text(parent, 'OrgnlNbOfTxs');
  const sum = text(parent, 'OrgnlCtrlSum');
  if (count === undefined && sum === undefined) return {};
  return { totals: { ...(count === undefined ? {} : { count }), ...(sum === undefined ? {} : { sum }) } };
}

function amountsOf(original: Content): EchoedAmount[] {
  const amount = node(original, 'Amt');
  return [
    ...amounts(original, 'IntrBkSttlmAmt'),
    ...amounts(amount, 'InstdAmt'),
    ...amounts(node(amount, 'EqvtAmt'), 'Amt'),
  ];
}

function statusOf(parent: Content, name: string): BankStatus {
  const status = text(parent, name);
  const { codes, ...words } = reasons(nodes(parent, 'StsRsnInf'));
  return { ...(status === undefined ? {} : { status }), reasons: codes, ...words };
}
