import { XMLParser } from 'fast-xml-parser';
import type {
  BankStatus,
  PaymentStatus,
  StatusReport,
  TransactionStatus,
} from '../../../domain/iso20022/status-report';

/** The file is not a readable report. The message is for an operator. */
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
 * The text of a file from outside, checked before any parser sees it. Throws {@link UnreadableReport} for any encoding
 * but UTF-8, which could hide a DOCTYPE, and for any DOCTYPE: entities need one, and no report has one.
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
    // Not UTF-8 either.
  }
  throw new UnreadableReport('not UTF-8');
}

/** Reads a report that is valid by its schema. Throws {@link UnreadableReport} if its content makes no sense. */
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

/** Supplementary data may be nested too deep, or use names that the parser rejects. */
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

/** The additional information of all reasons. */
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
