import type { MerchantNotes } from '@gateway/contracts';
import type { RawFields } from './body';
import { boundedText } from './body';
import { readCustomFields } from './custom-fields';
import type { FieldProblem, FieldRow } from './field-table';
import { Findings, acceptedText, checkRows } from './field-table';
import { showsCardNumber } from './own-card-number';

export type FieldCheck<Request> =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

/** The fields of one kind of request, and the request that they form if all are valid. */
export interface RequestTable<Request> {
  readonly rows: readonly FieldRow[];
  /** Checked after the `custom_*` fields, which are checked after the rows. */
  readonly lastRows?: readonly FieldRow[] | undefined;
  build(found: Findings, custom: MerchantNotes['custom']): Request;
}

/**
 * Step 5 of the order of checks (decisions.md, section 2). Reports all problems in the order of the table; the first
 * one determines the answer's code and message.
 */
export function checkTable<Request>(
  { rows, lastRows, build }: RequestTable<Request>,
  fields: RawFields,
  nowMs: number,
): FieldCheck<Request> {
  const findings = new Findings();
  const cardNumber = ownCardNumber(rows, fields, nowMs);
  checkRows(withoutCardNumber(rows, cardNumber), fields, nowMs, findings);
  const custom = readCustomFields(fields, findings, cardNumber);
  if (lastRows !== undefined) checkRows(withoutCardNumber(lastRows, cardNumber), fields, nowMs, findings);

  const [first, ...others] = findings.problems;
  if (first !== undefined) return { ok: false, problems: [first, ...others] };
  return { ok: true, request: build(findings, custom) };
}

const CARD_NUMBER = 'card_number';
/** No rule accepts a longer text: 4096 characters of one unit or two. */
const ACCEPTED_MAX = 8_192;

function ownCardNumber(rows: readonly FieldRow[], fields: RawFields, nowMs: number): string | undefined {
  const row = rows.find(({ name }) => name === CARD_NUMBER);
  return row && acceptedText(row, fields, nowMs);
}

/** decisions.md, section 10: no other field may contain the request's own card number. */
function withoutCardNumber(rows: readonly FieldRow[], cardNumber: string | undefined): readonly FieldRow[] {
  if (cardNumber === undefined) return rows;
  return rows.map((row) => {
    if (row.name === CARD_NUMBER) return row;
    const read: FieldRow['read'] = (value, nowMs) => {
      const accepted = row.read(value, nowMs);
      // A number is too short.
      const shows = accepted !== undefined && showsCardNumber(boundedText(value, ACCEPTED_MAX) ?? '', cardNumber);
      return shows ? undefined : accepted;
    };
    const why: FieldRow['why'] = (value, nowMs) =>
      row.read(value, nowMs) === undefined ? row.why(value, nowMs) : 'shows-card-number';
    return { ...row, read, why };
  });
}

/** The optional texts that were sent, by property name. */
export function texts<K extends string>(found: Findings, names: Readonly<Record<K, string>>): { [P in K]?: string } {
  const sent: { [P in K]?: string } = {};
  for (const property in names) {
    const value = found.optionalText(names[property]);
    if (value !== undefined) sent[property] = value;
  }
  return sent;
}
