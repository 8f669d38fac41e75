import type { AccountReport, Entry } from '../../../domain/iso20022/booking';
import { amountOf, reasonOf } from './camt-file';
import { node, nodes, text } from './content';
import type { Content, Shape } from './xml-content';

const AMOUNT = { '@Ccy': 'text', '#text': 'text' } as const satisfies Shape;
const ORIGINAL = { OrgnlMsgId: 'text' } as const satisfies Shape;

/** The parts of a pacs.004, of any version, that we use. */
export const PACS_004_SHAPE: Shape = {
  Document: {
    PmtRtr: {
      GrpHdr: { MsgId: 'text' },
      OrgnlGrpInf: ORIGINAL,
      TxInf: {
        OrgnlGrpInf: ORIGINAL,
        ...{ RtrId: 'text', OrgnlEndToEndId: 'text' },
        RtrdIntrBkSttlmAmt: AMOUNT,
        RtrRsnInf: { Rsn: { Cd: 'text', Prtry: 'text' }, AddtlInf: 'text' },
      },
    },
  },
};

/** Each transaction that comes back is a credit. */
export function readPacs004(content: Content): AccountReport {
  const report = node(node(content, 'Document'), 'PmtRtr');
  const messageId = text(node(report, 'GrpHdr'), 'MsgId') ?? '';
  const entries = nodes(report, 'TxInf').map((transaction) => returnOf(transaction, report));
  return { messageId, statements: [{ id: messageId, entries }] };
}

function returnOf(transaction: Content, report: Content): Entry {
  const [original = {}] = [...nodes(transaction, 'OrgnlGrpInf'), ...nodes(report, 'OrgnlGrpInf')];
  const messageId = text(original, 'OrgnlMsgId');
  const endToEndId = text(transaction, 'OrgnlEndToEndId');
  const bankReference = text(transaction, 'RtrId');
  const credit = { ...amountOf(transaction, 'RtrdIntrBkSttlmAmt'), side: 'credit' as const };
  const booking = {
    ...credit,
    ...(messageId === undefined ? {} : { messageId }),
    ...(endToEndId === undefined ? {} : { endToEndId }),
    ...(bankReference === undefined ? {} : { bankReference }),
    returned: reasonOf(nodes(transaction, 'RtrRsnInf')),
  };
  return { ...credit, isBooked: true, isReversal: false, bookings: [booking] };
}
