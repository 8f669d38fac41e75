import registry from './response-codes.json';

/** A code of the public registry of this family of gateways, `"extension": true` marking our additions. */
export type ResponseCode = number;

interface Registered {
  code: number;
  message: string;
  class: string;
  outcomeUnknown?: boolean;
}

const byCode = new Map<number, Registered>((registry as Registered[]).map((entry) => [entry.code, entry]));

/** The registered message. Throws on a code that nobody registered: the code is wrong, not the request. */
export function messageOfCode(code: ResponseCode): string {
  const entry = byCode.get(code);
  if (entry === undefined) throw new Error(`response code ${code} is not registered`);
  return entry.message;
}

export function isRegisteredCode(code: number): boolean {
  return byCode.has(code);
}

/** The registered message with its `[field]` filled in, e.g. `card_number not present in request`. */
export function messageForField(code: ResponseCode, field: string): string {
  return messageOfCode(code).replace('[field]', () => field);
}

/** decisions.md, section 4: the cardholder has declined, as a bank would. */
const ABORTED_BY_CARDHOLDER = 3023;

/** Status of a card operation that ended with this code: banks and anti-fraud decline, everything else is an error. */
export function cardStatusOfCode(code: ResponseCode): 'success' | 'decline' | 'error' {
  if (code === 0) return 'success';
  return (code >= 3100 && code <= 3299) || code === ABORTED_BY_CARDHOLDER ? 'decline' : 'error';
}
