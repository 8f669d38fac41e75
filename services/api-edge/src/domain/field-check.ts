import type { MerchantNotes } from '@gateway/contracts';
import type { RawFields } from './body';
import { readCustomFields } from './custom-fields';
import type { FieldProblem, FieldRow } from './field-table';
import { Findings, checkRows } from './field-table';

export type FieldCheck<Request> =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

/** The fields that one kind of request has, and what becomes of them when all are in order. */
export interface RequestTable<Request> {
  readonly rows: readonly FieldRow[];
  /** Checked after the `custom_*` fields, which are checked after the rows. */
  readonly lastRows?: readonly FieldRow[] | undefined;
  build(found: Findings, custom: MerchantNotes['custom']): Request;
}

/**
 * Step 5 of the order of checks (decisions.md, section 2). All problems are told, in the order of the table; the first
 * one's code and message are the answer's.
 */
export function checkTable<Request>(
  { rows, lastRows, build }: RequestTable<Request>,
  fields: RawFields,
  nowMs: number,
): FieldCheck<Request> {
  const findings = new Findings();
  checkRows(rows, fields, nowMs, findings);
  const custom = readCustomFields(fields, findings);
  if (lastRows !== undefined) checkRows(lastRows, fields, nowMs, findings);

  const [first, ...others] = findings.problems;
  if (first !== undefined) return { ok: false, problems: [first, ...others] };
  return { ok: true, request: build(findings, custom) };
}

/** The optional texts that were sent, under the properties' names. */
export function texts<K extends string>(found: Findings, names: Readonly<Record<K, string>>): { [P in K]?: string } {
  const sent: { [P in K]?: string } = {};
  for (const property in names) {
    const value = found.optionalText(names[property]);
    if (value !== undefined) sent[property] = value;
  }
  return sent;
}
