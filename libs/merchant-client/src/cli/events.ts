import type { CallbackAttempt, CallbackRecord } from '../callback-list';
import { callbacksIn, callbacksRequest } from '../callback-list';
import type { Send } from '../send';
import { askOnce, requireSuccess } from './gateway';
import type { Terminal } from './terminal';

const SECOND_MS = 1_000;

/** Prints the account's callbacks, newest first, one line each. */
export async function listEvents({
  limit,
  agoSeconds,
  reference,
  asJson,
  send,
  terminal,
}: {
  limit: number;
  agoSeconds?: number;
  reference?: string;
  asJson: boolean;
  send: Send;
  terminal: Terminal;
}): Promise<void> {
  const query = {
    limit,
    ...(reference === undefined ? {} : { reference }),
    ...(agoSeconds === undefined ? {} : { time_from: unixSeconds() - agoSeconds }),
  };
  const records = callbacksIn(requireSuccess(await askOnce(send, callbacksRequest(query))));
  if (asJson) return terminal.print(JSON.stringify(records, null, 2));
  if (records.length === 0) return terminal.print('No callbacks.');
  for (const record of records) terminal.print(lineOf(record));
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / SECOND_MS);
}

export function timeOf(seconds: number): string {
  return new Date(seconds * SECOND_MS).toISOString().replace('.000', '');
}

function resultOf({ error, http_status: status, body_start: start }: Partial<CallbackAttempt> = {}): string {
  const parts = [error, status === undefined ? undefined : `HTTP ${status}`, start];
  return parts.filter((part) => part !== undefined && part !== '').join(', ') || 'under way';
}

export function lineOf(record: CallbackRecord): string {
  const { callback_id: id, type, reference, transaction_unique_id: uniqueId, state, timestamp, attempts } = record;
  const last = attempts.at(-1);
  const tried = attempts.length === 0 ? 'not tried yet' : `${attempts.length}x, last: ${resultOf(last)}`;
  const next = record.next_attempt_at === undefined ? '' : `, next at ${timeOf(record.next_attempt_at)}`;
  return [timeOf(timestamp), id, type.padEnd(6), reference, uniqueId, state.padEnd(9), tried + next].join('  ');
}
