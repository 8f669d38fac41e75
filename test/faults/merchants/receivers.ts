import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer } from '@gateway/testing';
import { isSigned } from '../../support/merchant';
import type { Notebook } from './notebook';

/** `failing`: answers 500. `hanging`: never answers. `absent`: closes connections without reading. */
export type ReceiverManner = 'well' | 'failing' | 'hanging' | 'absent';

/** A merchant's server, which receives callbacks and returning browsers. */
export interface Receiver {
  readonly url: string;
  behave(manner: ReceiverManner): void;
}

export interface Receivers {
  readonly all: readonly Receiver[];
  /** PEM of the CA of their certificates. */
  readonly ca: string;
  close(): Promise<void>;
}

export interface ReceiverOwner {
  merchant: string;
  password: string;
  payoutSecret: string;
}

export async function startReceivers(owners: readonly ReceiverOwner[], notebook: Notebook): Promise<Receivers> {
  const certificate = await createCertificate();
  const servers: HttpsServer[] = [];
  const all: Receiver[] = [];
  for (const owner of owners) {
    let manner: ReceiverManner = 'well';
    const server = await startHttpsServer(certificate, (request, response) => {
      void receive(request, response, owner, notebook, () => manner);
    });
    servers.push(server);
    all.push({ url: server.url, behave: (next) => void (manner = next) });
  }
  return {
    all,
    ca: certificate.cert,
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  owner: ReceiverOwner,
  notebook: Notebook,
  manner: () => ReceiverManner,
): Promise<void> {
  if (manner() === 'absent') return void request.socket.destroy();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (!(request.url ?? '').startsWith('/callback')) return void response.end('<title>Shop</title>');
  note(
    new URLSearchParams(Buffer.concat(chunks).toString()),
    request.url?.endsWith('/payout') === true,
    owner,
    notebook,
  );
  switch (manner()) {
    case 'well':
      return void response.end('OK');
    case 'failing':
      return void response.writeHead(500).end('out of order');
    case 'hanging':
      return undefined;
    case 'absent':
      return void request.socket.destroy();
  }
}

function note(callback: URLSearchParams, isPayout: boolean, owner: ReceiverOwner, notebook: Notebook): void {
  const at = Date.now();
  const reference = callback.get('reference') ?? '';
  const status = (callback.get('status') ?? '').toUpperCase();
  const code = Number(callback.get('code'));
  const signed = isSigned(callback, isPayout ? owner.payoutSecret : owner.password);
  notebook.callbacks.push({ merchant: owner.merchant, reference, at, status, code, signed });
  const type = isPayout ? 'PAYOUT' : 'SALE3D';
  notebook.observations.push({ reference, askedAt: at, toldAt: at, source: 'callback', type, status, code });
}
