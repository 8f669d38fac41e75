import type { ErrorReason, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, messageForField } from '@gateway/contracts';
import type { RawFields, RawValue } from './body';
import { isAbsent } from './body';
import type { FieldName } from './field-names';

/** An item of the answer's `errors`. */
export interface FieldProblem {
  readonly field: string;
  readonly code: ResponseCode;
  readonly message: string;
  readonly reason: ErrorReason;
  /** One sentence: what is allowed, with an example. Never what was sent. */
  readonly hint: string;
}

/** Reads the value of a present field; undefined if it breaks the field's rule. */
export type FieldReader = (value: RawValue, nowMs: number) => string | number | undefined;

type FixedNeed = 'required' | 'optional' | 'forbidden';

/** Whether a request requires, allows or forbids a field. It may depend on another field. */
export type FieldNeed =
  FixedNeed | { readonly beside: FieldName; readonly then: FixedNeed; readonly otherwise: FixedNeed };

/** JSON Schema of the values that a field may have, as documents show it. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** What a field may be. `schema` describes every value that `read` accepts, and few others. */
export interface FieldRule {
  readonly schema: FieldSchema;
  readonly read: FieldReader;
  /** What to send, in words that follow "Send". */
  readonly allowed: string;
  /** A text that `read` accepts. */
  readonly example: string;
  /** Why `read` has refused the value. Asked after a refusal only, so that what is accepted costs nothing more. */
  why(value: RawValue, nowMs: number): ErrorReason;
}

export interface FieldRow extends FieldRule {
  readonly name: FieldName;
  readonly need: FieldNeed;
}

/** A row of a table with one kind of request. */
export function row(name: FieldName, need: FieldNeed, rule: FieldRule): FieldRow {
  return { name, need, ...rule };
}

/** The findings of the rows: the fields' values, and the problems in the order of the rows. */
export class Findings {
  readonly problems: FieldProblem[] = [];
  readonly #values = new Map<string, string | number>();

  accept(field: string, value: string | number): void {
    this.#values.set(field, value);
  }

  miss(field: string, hint: string): void {
    this.#problem(RESPONSE_CODES.FIELD_MISSING, field, 'missing', hint);
  }

  reject(field: string, reason: ErrorReason, hint: string): void {
    this.#problem(RESPONSE_CODES.FIELD_INVALID, field, reason, hint);
  }

  refuse(field: string, hint: string): void {
    this.#problem(RESPONSE_CODES.FIELD_FORBIDDEN, field, 'forbidden', hint);
  }

  /** The text of an optional field. */
  optionalText(field: string): string | undefined {
    const value = this.#values.get(field);
    return typeof value === 'string' ? value : undefined;
  }

  /** The text of a field that the rows required. */
  text(field: string): string {
    const value = this.#values.get(field);
    if (typeof value !== 'string') throw new Error(`${field} was not required, or is no text`);
    return value;
  }

  /** The number of an optional field. */
  optionalNumber(field: string): number | undefined {
    const value = this.#values.get(field);
    return typeof value === 'number' ? value : undefined;
  }

  /** The number of a field that the rows required. */
  number(field: string): number {
    const value = this.#values.get(field);
    if (typeof value !== 'number') throw new Error(`${field} was not required, or is no number`);
    return value;
  }

  #problem(code: ResponseCode, field: string, reason: ErrorReason, hint: string): void {
    this.problems.push({ field, code, message: messageForField(code, field), reason, hint });
  }
}

/** Checks the fields against the rows and adds to the findings. Ignores fields without a row. */
export function checkRows(rows: readonly FieldRow[], fields: RawFields, nowMs: number, findings: Findings): void {
  for (const row of rows) {
    const { name, need, read } = row;
    const value = fields.get(name);
    const here = needIn(fields, need);
    if (isAbsent(value)) {
      if (here === 'required') findings.miss(name, hintOf(row));
    } else if (here === 'forbidden') {
      findings.refuse(name, leaveOutHint(need));
    } else {
      const accepted = read(value, nowMs);
      if (accepted === undefined) findings.reject(name, row.why(value, nowMs), hintOf(row));
      else findings.accept(name, accepted);
    }
  }
}

/** What a field takes, with an example of it, unless it is all that the field takes. */
export function hintOf({ allowed, example }: Pick<FieldRule, 'allowed' | 'example'>): string {
  return allowed === example ? `Send ${example}` : `Send ${allowed}, such as ${example}`;
}

function leaveOutHint(need: FieldNeed): string {
  return typeof need === 'string'
    ? 'Leave it out: this operation does not take it'
    : `Leave it out, or leave out ${need.beside}: a request has one of the two`;
}

/** The text that a row accepts; undefined if there is none. */
export function acceptedText({ name, need, read }: FieldRow, fields: RawFields, nowMs: number): string | undefined {
  const value = fields.get(name);
  if (isAbsent(value) || needIn(fields, need) === 'forbidden') return undefined;
  const accepted = read(value, nowMs);
  return typeof accepted === 'string' ? accepted : undefined;
}

function needIn(fields: RawFields, need: FieldNeed): FixedNeed {
  if (typeof need === 'string') return need;
  return isAbsent(fields.get(need.beside)) ? need.otherwise : need.then;
}
