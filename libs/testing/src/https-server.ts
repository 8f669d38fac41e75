import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';

const YEAR_MS = 365 * 86_400_000;

export interface Certificate {
  /** PEM; it is its own authority. */
  cert: string;
  key: string;
}

/**
 * A certificate for this machine's loopback names, created for one test run.
 *
 * @param commonName whom a client certificate names
 * @param lastsMs until its end, from now; default: a year
 */
export async function createCertificate(commonName = 'localhost', lastsMs = YEAR_MS): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    notAfterDate: new Date(Date.now() + lastsMs),
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { cert, key };
}

export interface HttpsServer {
  /** `https://<name>:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * An HTTPS server on loopback, like a merchant's.
 *
 * @param name by which others reach it; another one than `localhost` makes it listen on every address
 */
export async function startHttpsServer(
  certificate: Certificate,
  listener: RequestListener,
  name = 'localhost',
): Promise<HttpsServer> {
  const server = createServer(certificate, listener).listen(0, name === 'localhost' ? '127.0.0.1' : '0.0.0.0');
  await once(server, 'listening');
  return {
    url: `https://${name}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
