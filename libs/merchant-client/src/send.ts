import type { Reading } from './answers';
import { readExchange } from './answers';
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

export function createSend(transport: Transport, { account, password }: Credentials): Send {
  const credentials = { api_version: API_VERSION, merchant_account: account, merchant_password: password };
  return async ({ path, fields, idempotencyKey }, timeoutMs) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    const body = JSON.stringify({ ...fields, ...credentials });
    return readExchange(await transport.post({ path, body, headers, timeoutMs }));
  };
}
