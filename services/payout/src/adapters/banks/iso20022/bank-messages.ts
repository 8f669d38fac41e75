import { accountReportShape, readAccountReport } from './camt-file';
import { node } from './content';
import { PACS_004_SHAPE, readPacs004 } from './pacs004-file';
import { PAIN_002_SHAPE, readPain002 } from './pain002-file';
import type { Messages, Schema } from './schema-check';
import { namespaceOf, schemaOf } from './schema-check';
import type { Content, Shape } from './xml-content';
import type { AccountReport } from '../../../domain/iso20022/booking';
import type { StatusReport } from '../../../domain/iso20022/status-report';

/** A message from a bank: the statuses of a message of ours, or what it booked on our accounts. */
export type BankMessage = { statusReport: StatusReport } | { accountReport: AccountReport };

/** Versions of a message whose schema we have. Another one is checked by the next of them, which has its elements, and more. */
interface Versions {
  message: string;
  first: number;
  written: readonly number[];
  shapeOf: (version: number) => Shape;
}

/** camt.053 and camt.054 changed in almost every version; .11 has what .09 and .10 have. */
const CAMT_VERSIONS = { first: 2, written: [2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14] };

const CHECKED: readonly Versions[] = [
  { message: 'pain.002', first: 3, written: [3, 10, 12, 14, 15], shapeOf: () => PAIN_002_SHAPE },
  { message: 'camt.053', ...CAMT_VERSIONS, shapeOf: accountReportShape },
  { message: 'camt.054', ...CAMT_VERSIONS, shapeOf: accountReportShape },
];

/** Banks pass it on to their customers though it is a message between banks. Its schema is in no registry. */
const PACS_004 = { message: 'pacs.004', first: 9, last: 14 };

/** All that is taken from a bank, by namespace. */
export const BANK_MESSAGES: Messages = Object.fromEntries([
  ...CHECKED.flatMap(({ message, first, written, shapeOf }) =>
    written.flatMap((next, index) =>
      range((written[index - 1] ?? first - 1) + 1, next).map((version): [string, Schema & { shape: Shape }] => {
        const [namespace, schema] = schemaOf(versionOf(message, version), versionOf(message, next));
        return [namespace, { ...schema, shape: shapeOf(version) }];
      }),
    ),
  ),
  ...range(PACS_004.first, PACS_004.last).map((version): [string, { shape: Shape }] => [
    namespaceOf(versionOf(PACS_004.message, version)),
    { shape: PACS_004_SHAPE },
  ]),
]);

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}

function versionOf(message: string, version: number): string {
  return `${message}.001.${String(version).padStart(2, '0')}`;
}

/** The message in what was read of a document of {@link BANK_MESSAGES}; undefined if it is empty. */
export function readBankMessage(content: Content): BankMessage | undefined {
  const document = node(content, 'Document');
  if ('CstmrPmtStsRpt' in document) return { statusReport: readPain002(content) };
  if ('PmtRtr' in document) return { accountReport: readPacs004(content) };
  if ('BkToCstmrStmt' in document || 'BkToCstmrDbtCdtNtfctn' in document)
    return { accountReport: readAccountReport(content) };
  return undefined;
}
