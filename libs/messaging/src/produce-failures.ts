import { errorCodes } from 'kafkajs/src/protocol/error';

/** What a broker's response for a partition means for its batch. */
export type ProduceOutcome =
  | 'acknowledged'
  /** The messages themselves are at fault: no broker will accept them. */
  | 'refused'
  /** The leader has the batch, but too few replicas got it in time. This delayed the other partitions of the request. */
  | 'slow'
  /** Any other error, a missing ACL included: send it again, perhaps to another broker. */
  | 'failed';

const NO_ERROR = 'NO_ERROR';
const NOT_IN_ANSWER = 'NOT_IN_ANSWER';
const nameByCode = new Map([...errorCodes.map(({ code, type }) => [code, type] as const), [0, NO_ERROR]]);

const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'POLICY_VIOLATION',
]);
const HELD_UP = new Set(['REQUEST_TIMED_OUT', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND']);

/** The name of a Kafka error code. Undefined means that the partition is missing from the response: not acknowledged. */
export function errorName(errorCode: number | undefined): string {
  return errorCode === undefined ? NOT_IN_ANSWER : (nameByCode.get(errorCode) ?? `error ${errorCode}`);
}

/** @param name from {@link errorName} */
export function outcomeOf(name: string): ProduceOutcome {
  if (name === NO_ERROR) return 'acknowledged';
  if (REFUSALS.has(name)) return 'refused';
  return HELD_UP.has(name) ? 'slow' : 'failed';
}
