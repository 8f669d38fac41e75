import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { rangeContains } from './address-range';

const BODY = 'This address answers over HTTPS alone.\n';

/**
 * Refuses requests that came in clear with 403, before their body is read: passwords and card numbers in them may have
 * been seen by others, so they must not work. A request came by TLS if this port served it so, or if a trusted proxy
 * says `X-Forwarded-Proto: https`, and nothing else. ADR 0076.
 */
export function requireTls(listener: RequestListener, trustedProxies: readonly string[]): RequestListener {
  return (request, response) => {
    if (cameByTls(request, trustedProxies)) return listener(request, response);
    response.writeHead(403, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(BODY),
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(BODY);
  };
}

/** Whether this process itself has the TLS connection. */
export function isTls(socket: Socket | null): boolean {
  return socket instanceof TLSSocket;
}

function cameByTls({ socket, headers }: IncomingMessage, trustedProxies: readonly string[]): boolean {
  if (isTls(socket)) return true;
  const { remoteAddress } = socket;
  if (remoteAddress === undefined || !trustedProxies.some((range) => rangeContains(range, remoteAddress))) return false;
  // A proxy that appends to what it got leaves a list, whose first entry is the client's own word.
  return headers['x-forwarded-proto'] === 'https';
}
