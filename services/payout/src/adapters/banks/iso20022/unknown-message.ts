import type { Logger } from '@gateway/service-kit';
import type { BankStatus, StatusReport } from '../../../domain/iso20022/status-report';
import type { Records } from './records';
import { UNREPORTED } from './records';

const MAX_SAID = 10;
const MAX_BATCHES = 50;
/** The shape of an IBAN, with or without blanks. */
const ACCOUNT_NUMBER = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g;

/**
 * The problems of a report on a message that we did not send, as of a bank that could not read our file and so cannot name
 * it. The log shows an operator what the bank says and which files it may mean, without account numbers.
 */
export async function reportUnknownMessage(
  report: StatusReport,
  { records, logger, file }: { records: Pick<Records, 'batches'>; logger: Logger; file: string },
): Promise<string[]> {
  const { originalMessageId } = report;
  const said = [report.group, ...report.payments].map(wordsOf).filter((words) => words !== '');
  const batches = await records.batches
    .find(UNREPORTED, { projection: { _id: 1 } })
    .sort({ createdAt: -1 })
    .limit(MAX_BATCHES)
    .toArray();
  const unreported = batches.map(({ _id }) => _id);
  logger.error('a bank reports on a message that it was never sent', {
    file,
    message: originalMessageId,
    said: said.slice(0, MAX_SAID).map((words) => words.replace(ACCOUNT_NUMBER, '[account]')),
    unreported,
  });
  return [
    `no message ${originalMessageId} is known`,
    ...said.slice(0, MAX_SAID).map((words) => `the bank says ${words}`),
    `files without a report: ${unreported.length === 0 ? 'none' : unreported.join(', ')}`,
  ];
}

function wordsOf({ status, reasons, description }: BankStatus): string {
  const head = [status ?? [], ...reasons].flat().join(' ');
  return description === undefined ? head : `${head}: ${description}`;
}
