import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Record<string, unknown>;

export interface SeenRequest {
  path: string;
  key: string | undefined;
  fields: Fields;
}

/** How one request is answered. */
export type Step = (response: ServerResponse, request: SeenRequest) => void;

/** Answers requests by a script, and keeps what it saw. */
export interface FakeGateway {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Replaces what is left of the script; its last step answers all further requests. */
  play(...steps: [Step, ...Step[]]): void;
  /** Resolves when requests that a client sent and gave up have arrived: they would take a step of the next script. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const MARKER = '/settled';

export async function startFakeGateway(): Promise<FakeGateway> {
  const seen: SeenRequest[] = [];
  let script: Step[] = [];
  const server = createServer((request, response) => {
    if (request.url === MARKER) return void response.end();
    void read(request).then((body) => {
      const key = request.headers['idempotency-key'];
      const one = { path: request.url ?? '', key: key?.toString(), fields: JSON.parse(body) as Fields };
      seen.push(one);
      const step = script.length > 1 ? script.shift() : script[0];
      step?.(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    play(...steps) {
      seen.length = 0;
      script = steps;
    },
    async settled() {
      // On a connection of its own, which is accepted after theirs.
      const { port } = server.address() as AddressInfo;
      const [response] = (await once(get({ port, path: MARKER, agent: false }), 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const ENVELOPE = { api_version: 1, merchant_account: 'demo_merchant', sessionid: 'session' };

/** An answer of the gateway. */
export function answer(fields: Fields, status = 200, headers: Record<string, string> = {}): Step {
  return (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ ...ENVELOPE, ...fields }));
}

/** An answer of something else. */
export function foreign(status: number, text: string): Step {
  return (response) => void response.writeHead(status, { 'content-type': 'text/html' }).end(text);
}

/** The connection breaks, after the first bytes of an answer if there are any. */
export function cut(bytes = ''): Step {
  return (response) => {
    if (bytes !== '') response.writeHead(200, { 'content-length': '1000' }).write(bytes);
    setImmediate(() => response.destroy());
  };
}

/** Never answered. */
export const silence: Step = () => undefined;

const REFERENCE = '0123456789ABCDEF0001';
export const CHECKED_OK = { status: 'success', code: 0, message: 'Transaction processed successfully' };

export const approved: Step = (response, request) =>
  answer({ ...CHECKED_OK, transaction_unique_id: request.fields['transaction_unique_id'], ...RECORDED })(
    response,
    request,
  );
const RECORDED = { reference: REFERENCE, token: 'token', authcode: 'A12345' };

/** A refusal that leaves nothing on record. */
export const refusal = (code: number, message: string): Step => answer({ status: 'error', code, message });

/** An answer about an operation that is on record. */
export const ended = (status: string, code: number, message: string): Step =>
  answer({ status, code, message, reference: REFERENCE });

export const notFound: Step = answer({ status: 'error', code: 3014, message: 'not found', transactions: [] });

/** CHECK's answer with one record, of whatever was asked for. */
export function record(status: string, code: number, message = 'message'): Step {
  return (response, request) => {
    const { transaction_unique_id = 'of the answer' } = request.fields;
    const found = { reference: REFERENCE, transaction_unique_id, transaction_type: 'SALE', status, code, message };
    answer({ ...CHECKED_OK, transactions: [found] })(response, request);
  };
}
