import { XMLParser } from 'fast-xml-parser';
import type {
  BankStatus,
  PaymentStatus,
  StatusReport,
  TransactionStatus,
} from '../../../domain/iso20022/status-report';

/** Thrown for what is no report that can be read; the message is for an operator. */
export class UnreadableReport extends Error {}

const LISTS = new Set(['OrgnlPmtInfAndSts', 'TxInfAndSts', 'StsRsnInf', 'AddtlInf']);
const DESCRIPTION_LENGTH = 255;

const parser = new XMLParser({
  ignoreAttributes: true,
  removeNSPrefix: true,
  parseTagValue: false,
  isArray: (name) => LISTS.has(name),
});

/**
 * The text of a file that came from outside, for parsers to look at. Throws {@link UnreadableReport} for another
 * encoding than UTF-8, in which a DOCTYPE could hide, and for any DOCTYPE: no report has one, entities need one.
 */
export function xmlText(bytes: Uint8Array): string {
  const text = decoded(bytes);
  const encoding = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1];
  if (encoding !== undefined && !/^(utf-8|us-ascii)$/i.test(encoding)) {
    throw new UnreadableReport(`encoding ${encoding} is not taken, only UTF-8`);
  }
  if (/<!doctype/i.test(text)) throw new UnreadableReport('a DOCTYPE is not taken');
  return text;
}

function decoded(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Falls through: not UTF-8 either way.
  }
  throw new UnreadableReport('not UTF-8');
}

/** Reads what its schema has found valid. Throws {@link UnreadableReport} all the same. */
export function readPain002(text: string): StatusReport {
  const report = node(node(parsed(text), 'Document'), 'CstmrPmtStsRpt');
  const group = node(report, 'OrgnlGrpInfAndSts');
  return {
    messageId: word(node(report, 'GrpHdr'), 'MsgId') ?? '',
    originalMessageId: word(group, 'OrgnlMsgId') ?? '',
    group: statusOf(group, 'GrpSts'),
    payments: nodes(report, 'OrgnlPmtInfAndSts').map(paymentOf),
  };
}

/** Supplementary data may be anything: nested deeper than the parser goes, or named as it takes no element to be. */
function parsed(text: string): unknown {
  try {
    return parser.parse(text);
  } catch (error) {
    throw new UnreadableReport((error as Error).message);
  }
}

function paymentOf(payment: Node): PaymentStatus {
  const originalPaymentId = word(payment, 'OrgnlPmtInfId');
  return {
    ...(originalPaymentId === undefined ? {} : { originalPaymentId }),
    ...statusOf(payment, 'PmtInfSts'),
    transactions: nodes(payment, 'TxInfAndSts').map(transactionOf),
  };
}

function transactionOf(transaction: Node): TransactionStatus {
  const endToEndId = word(transaction, 'OrgnlEndToEndId');
  const bankReference = word(transaction, 'AcctSvcrRef');
  return {
    ...(endToEndId === undefined ? {} : { endToEndId }),
    ...statusOf(transaction, 'TxSts'),
    ...(bankReference === undefined ? {} : { bankReference }),
  };
}

/** What is written beside the reasons, together. */
function statusOf(parent: Node, name: string): BankStatus {
  const status = word(parent, name);
  const infos = nodes(parent, 'StsRsnInf');
  const reasons = infos.map((info) => node(info, 'Rsn')).flatMap((one) => word(one, 'Cd') ?? word(one, 'Prtry') ?? []);
  const description = infos
    .flatMap((info) => list(info, 'AddtlInf'))
    .filter((line) => typeof line === 'string')
    .join(' ')
    .slice(0, DESCRIPTION_LENGTH);
  return {
    ...(status === undefined ? {} : { status }),
    reasons,
    ...(description === '' ? {} : { description }),
  };
}

type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function node(parent: unknown, name: string): Node {
  const child = isNode(parent) ? parent[name] : undefined;
  return isNode(child) ? child : {};
}

function list(parent: Node, name: string): unknown[] {
  const children = parent[name];
  return Array.isArray(children) ? children : [];
}

function nodes(parent: Node, name: string): Node[] {
  return list(parent, name).filter(isNode);
}

function word(parent: Node, name: string): string | undefined {
  const value = parent[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
