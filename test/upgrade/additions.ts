import type { Edit } from '../faults/world/release';
import type { Document } from '../support/storage';
import type { Evidence } from '../faults/model/evidence';
import { documentsOf } from '../faults/model/evidence';

/** The field that the new release adds to a message or document. */
const FIELD = 'addedByTheNewRelease';
const SCHEMA = `${FIELD}: typebox_1.Type.Optional(typebox_1.Type.String({ maxLength: 16 })),`;
const VALUE = `${FIELD}: 'yes',`;

const adding = (file: string, after: string, text: string): Edit => ({
  file,
  find: after,
  replace: `${after} ${text}`,
});

/** What sets the new release apart: an optional field of the commands, the events and the documents of payments. */
export const ADDITIONS: readonly Edit[] = [
  adding('contracts/dist/card-commands.js', 'const accepted = {', SCHEMA),
  adding('api-edge/dist/application/commands.js', 'const common = { ...known,', VALUE),
  adding('contracts/dist/card-events.js', 'const OperationRecord = typebox_1.Type.Object({', SCHEMA),
  adding('card-processing/dist/application/announcements.js', 'return (0, contracts_1.given)({', VALUE),
  adding('card-processing/dist/domain/payment.js', 'return { merchantAccount,', VALUE),
];

/**
 * How often each release worked on what the other had written. Zero means that the run has proved nothing about it.
 */
export function meetings(evidence: Pick<Evidence, 'messages' | 'documents'>): Record<string, number> {
  const isNew = (document: object | undefined): boolean => document !== undefined && FIELD in document;
  const dataOf = (topic: string) =>
    evidence.messages.filter((message) => message.topic === topic).map(({ value }) => JSON.parse(value) as Document);
  const commands = new Map(dataOf('card.commands.v1').map((command) => [String(command['reference']), command]));
  const payments = new Map(documentsOf(evidence, 'cards.payments').map((payment) => [payment._id, payment]));
  const events = dataOf('card.events.v1');
  const count = (reads: (event: Document) => object | undefined, written: 'new' | 'old', reader: 'new' | 'old') =>
    events.filter((event) => {
      const read = reads(event);
      return read !== undefined && isNew(read) === (written === 'new') && isNew(event) === (reader === 'new');
    }).length;
  const commandOf = (event: Document) => commands.get(String(event['reference']));
  const paymentOf = (event: Document) => payments.get(String(event['paymentId']));
  return {
    'commands of the new release that the old one handled': count(commandOf, 'new', 'old'),
    'commands of the old release that the new one handled': count(commandOf, 'old', 'new'),
    'changes of new payments by the old release': count(paymentOf, 'new', 'old'),
    'changes of old payments by the new release': count(paymentOf, 'old', 'new'),
  };
}
