import type { Answer, Reading } from '../answers';
import { errorsIn } from '../answers';
import { RESPONSE_CODES } from '../codes';
import type { Request, Send } from '../send';

/** The gateway refuses, or does not answer. The message says what to do. */
export class GatewayError extends Error {}

const TIMEOUT_MS = 35_000;

const HINTS: Readonly<Record<number, string>> = {
  [RESPONSE_CODES.WRONG_CREDENTIALS]: 'Check GATEWAY_ACCOUNT and GATEWAY_PASSWORD.',
  [RESPONSE_CODES.GATE_ERROR]: 'This gateway has no such function; is GATEWAY_URL right?',
};

/** Asks once. @throws GatewayError for anything but an answer, whatever its code */
export async function askOnce(send: Send, request: Request): Promise<Answer> {
  const reading = await send(request, TIMEOUT_MS);
  if (reading.kind === 'answer') return reading.answer;
  throw new GatewayError(`The gateway does not answer: ${reasonOf(reading)}.`);
}

/** @throws GatewayError unless the answer is a success */
export function requireSuccess(answer: Answer): Answer {
  if (answer.code === RESPONSE_CODES.SUCCESS) return answer;
  const hint = HINTS[answer.code] ?? errorsIn(answer)?.[0]?.hint;
  throw new GatewayError(
    `The gateway refuses: ${answer.message} (${answer.code}).${hint === undefined ? '' : ` ${hint}`}`,
  );
}

export function reasonOf(reading: Exclude<Reading, { kind: 'answer' }>): string {
  return reading.kind === 'refused' ? `${reading.answer.message} (${reading.answer.code})` : reading.reason;
}
