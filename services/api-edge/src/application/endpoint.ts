import type { Account } from '@gateway/accounts';
import type { TransactionType } from '@gateway/contracts';
import { TRANSACTION_TYPES } from '@gateway/contracts';
import type { RawFields } from '../domain/body';
import { readText } from '../domain/envelope-fields';
import type { RequestTable } from '../domain/field-check';
import type { Echoed } from './admit';
import type { OutcomeShape } from './answer-shapes';
import type { Family } from './responses';

export type ContentType = 'application/json' | 'application/x-www-form-urlencoded';

export const JSON_AND_FORM: readonly ContentType[] = ['application/json', 'application/x-www-form-urlencoded'];
export const JSON_ONLY: readonly ContentType[] = ['application/json'];

/** One kind of request that an endpoint takes. */
export interface Operation<Request = unknown> {
  /** Names it in the document: `AUTH` gives `AuthRequest` and `AuthAnswer`. */
  readonly title: string;
  /** What it does, in one sentence or two. */
  readonly summary: string;
  /** The `transaction_type` that chooses it. An endpoint with a single operation may do without. */
  readonly transactionType?: TransactionType;
  /** Whether the account may send it, else 2004. Undefined: every account may. */
  readonly allows?: (account: Account) => boolean;
  /** The hint of that 2004, if no operator can change it. */
  readonly whoMay?: string;
  /** Which fields it takes, by which rules, and the request that they form. */
  readonly table: RequestTable<Request>;
  /** For accounts that may not send all of these fields, which are then ignored. */
  readonly tableFor?: (account: Account) => RequestTable<Request>;
  /** All outcomes that its answers can tell. */
  readonly outcomes: readonly OutcomeShape[];
}

/**
 * An address of the merchants' API, declared once: the router takes its path and content types, the checks its tables,
 * and docs/openapi.yaml all of it (docs/adr/0061).
 */
export interface Endpoint<Request = unknown> {
  readonly path: string;
  readonly summary: string;
  readonly contentTypes: readonly ContentType[];
  /** Determines the names of the session and the authcode in answers. */
  readonly family: Family;
  /** Names all its requests in metrics, from a small fixed set. Undefined: the transaction type does. */
  readonly metricName?: string;
  /** It may wait on purpose, so its duration is no latency. */
  readonly waits?: true;
  /** Fields that answers repeat. */
  readonly echoed: Echoed;
  /** False for queries, which need no Idempotency-Key. */
  readonly takesKey: boolean;
  readonly operations: readonly Operation<Request>[];
}

/** The name of a request in metrics, also of one that is refused. A type that does not exist is none. */
export function metricNameOf({ metricName }: Pick<Endpoint, 'metricName'>, fields: RawFields): string | undefined {
  if (metricName !== undefined) return metricName;
  const given = readText(fields, 'transaction_type');
  return TRANSACTION_TYPES.find((type) => type === given);
}
