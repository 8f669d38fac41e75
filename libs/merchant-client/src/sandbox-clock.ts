import { randomUUID } from 'node:crypto';
import type { Answer, Reading } from './answers';
import { numberIn } from './answers';
import { isOpen, reasonOf } from './check';
import type { Deadline } from './deadline';
import type { Outcome } from './outcomes';
import { finalOutcome, notTaken, unknown } from './outcomes';
import type { ClockRequest } from './requests';
import type { Send } from './send';

const CLOCK_PATH = '/api/sandbox/clock';

/** The clock of a sandbox account. */
export interface SandboxClock {
  readonly kind: 'clock';
  /** The account's time, in unix seconds. */
  readonly clock: number;
  /** By how many seconds it has been moved in all. */
  readonly ahead: number;
  /** True once everything that waits has the new time. If not, ask again without `advance`. */
  readonly followed: boolean;
}

export type ClockOutcome = SandboxClock | Outcome<'error' | 'unknown'>;

/** Moves the clock at most once, however often the request is sent: each time it has the same Idempotency-Key. */
export async function turnClock(send: Send, fields: ClockRequest, deadline: Deadline): Promise<ClockOutcome> {
  const request = { path: CLOCK_PATH, fields, idempotencyKey: randomUUID() };
  let mayHaveMoved = false;
  let reading: Reading;
  do {
    reading = await send(request, deadline.exchangeMs());
    if (reading.kind === 'answer' && !isOpen(reading.answer)) return clockIn(reading.answer);
    mayHaveMoved ||= reading.kind === 'answer' || reading.kind === 'lost';
  } while (await deadline.pause(reading));
  const answer = 'answer' in reading ? reading.answer : undefined;
  return (mayHaveMoved ? unknown : notTaken)(undefined, reasonOf(reading), answer);
}

function clockIn(answer: Answer): ClockOutcome {
  const [clock, ahead] = [numberIn(answer, 'clock'), numberIn(answer, 'ahead')];
  if (clock !== undefined && ahead !== undefined) {
    return { kind: 'clock', clock, ahead, followed: answer['followed'] === true };
  }
  return finalOutcome(answer) as Outcome<'error'>;
}
