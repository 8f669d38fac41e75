import type { Answer, Reading } from './answers';
import { readExchange, textIn } from './answers';
import type { Transport } from './transport';

export interface Request {
  /** Below the base URL. */
  readonly path: string;
  readonly fields: object;
  readonly idempotencyKey?: string;
}

/** Sends fields with the account's credentials, once. Never throws. */
export type Send = (request: Request, timeoutMs: number) => Promise<Reading>;

export interface Credentials {
  account: string;
  password: string;
}

const API_VERSION = 1;
/** What a header may contain, and an id. Without the key, the gateway says that the id is invalid. */
const KEY = /^[!-~]+$/;
/** A proxy mixed up its connections, or a cache answered. */
const ANOTHERS: Reading = { kind: 'lost', reason: 'the answer is about another request', isStranger: true };

export function createSend(transport: Transport, { account, password }: Credentials): Send {
  const credentials = { api_version: API_VERSION, merchant_account: account, merchant_password: password };
  return async ({ path, fields, idempotencyKey }, timeoutMs) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(idempotencyKey !== undefined && KEY.test(idempotencyKey) ? { 'idempotency-key': idempotencyKey } : {}),
    };
    const sent: Record<string, unknown> = { ...fields, ...credentials };
    const reading = readExchange(await transport.post({ path, body: JSON.stringify(sent), headers, timeoutMs }));
    return 'answer' in reading && isAboutAnother(reading.answer, sent) ? ANOTHERS : reading;
  };
}

/** Answers repeat the account and the id of their request, as soon as the gateway knows them. */
function isAboutAnother(answer: Answer, sent: Readonly<Record<string, unknown>>): boolean {
  return ['merchant_account', 'transaction_unique_id'].some((name) => {
    const echoed = textIn(answer, name);
    return echoed !== undefined && echoed !== sent[name];
  });
}
