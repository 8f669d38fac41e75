import type { AccountReport, Entry } from '../../../domain/iso20022/booking';
import { reasonOf } from './camt-file';
import { AMOUNT, amounts, node, nodes, REASON, text } from './content';
import type { Content, Shape } from './xml-content';

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
        RtrRsnInf: REASON,
      },
    },
  },
};

/** Each transaction that comes back is a credit. A message that returns none says nothing that could be applied. */
export function readPacs004(content: Content): AccountReport {
  const report = node(node(content, 'Document'), 'PmtRtr');
  const messageId = text(node(report, 'GrpHdr'), 'MsgId') ?? '';
  const entries = nodes(report, 'TxInf').map((transaction) => returnOf(transaction, report));
  return { messageId, statements: [{ id: messageId, entries }], areReturns: true };
}

function returnOf(transaction: Content, report: Content): Entry {
  const [original = {}] = [...nodes(transaction, 'OrgnlGrpInf'), ...nodes(report, 'OrgnlGrpInf')];
  const messageId = text(original, 'OrgnlMsgId');
  const endToEndId = text(transaction, 'OrgnlEndToEndId');
  const bankReference = text(transaction, 'RtrId');
  const [amount = { amount: '', currency: '' }] = amounts(transaction, 'RtrdIntrBkSttlmAmt');
  const credit = { ...amount, side: 'credit' as const };
  const booking = {
    ...credit,
    ...(messageId === undefined ? {} : { messageId }),
    ...(endToEndId === undefined ? {} : { endToEndId }),
    ...(bankReference === undefined ? {} : { bankReference }),
    returned: reasonOf(nodes(transaction, 'RtrRsnInf')),
  };
  return { ...credit, isBooked: true, isReversal: false, bookings: [booking] };
}
